import { randomUUID } from 'node:crypto';
import type { PluginPeers } from '../plugin.js';

/** Something that waits. */
export interface Waiting {
  /** Names this time that it waits. */
  readonly token: string;
  readonly value: string;
}

/** How much longer notes are kept than what they are of waits, in milliseconds: who takes it then must be told that it is over. */
const SLACK_MS = 60_000;

/** What waits for a caller who may come back to any gateway on the store. Whoever goes on with it, or ends it, is one. */
export class SharedWaits {
  readonly #peers: PluginPeers;
  readonly #ttlMs: number;

  /** @param waitMs How long something waits */
  constructor(peers: PluginPeers, waitMs: number) {
    this.#peers = peers;
    this.#ttlMs = waitMs + SLACK_MS;
  }

  /** Notes that something waits, under names. A former one of a name is forgotten. */
  async keep(names: readonly string[], value: string): Promise<string> {
    const token = randomUUID();
    const note = JSON.stringify({ token, value } satisfies Waiting);
    for (const name of names) await this.#peers.notes.put(`wait:${name}`, note, { ttlMs: this.#ttlMs });
    return token;
  }

  /** What waits under a name; null for nothing. */
  async find(name: string): Promise<Waiting | null> {
    const note = await this.#peers.notes.get(`wait:${name}`);
    return note === null ? null : (JSON.parse(note) as Waiting);
  }

  /** Takes what waits: true for one who asks. */
  take(token: string): Promise<boolean> {
    return this.#peers.notes.put(`taken:${token}`, '', { ttlMs: this.#ttlMs, once: true });
  }

  async forget(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#peers.notes.drop(`wait:${name}`);
  }
}
