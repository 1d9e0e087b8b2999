import { randomUUID } from 'node:crypto';
import type { Identity } from '../../auth/types.js';
import type { PluginContext, PluginPeers } from '../plugin.js';

/** How much longer notes are kept than what they are of waits, in milliseconds: who takes it then must be told that it is over. */
const SLACK_MS = 60_000;

/** How things wait. `Kept` is a plain value: another gateway may go on with it. */
export interface WaitsOptions<Kept> {
  /** How long one waits, in milliseconds. */
  readonly waitMs: number;
  /** How many may wait here for one user; a further one ends the oldest. @default any number */
  readonly perUser?: number;
  /** The names that it is found by. */
  names(kept: Kept): readonly string[];
  /** Ends what nobody came back to. */
  end(kept: Kept, identity: Identity): Promise<void>;
  /** Whether it can be gone on with once nobody remembers that it waits, so that a gateway that closes leaves it. @default false */
  outlives?(kept: Kept): boolean;
}

/** A thing that waits. */
interface Entry<Kept> {
  /** Names this time that it waits. */
  readonly token: string;
  readonly kept: Kept;
  readonly identity: Identity;
}

/**
 * Things that wait for callers who bring something back, each reached by its own caller only. On a shared store they may come to any gateway:
 * whoever goes on with it, or ends it, is one.
 */
export class Waits<Kept> {
  readonly #peers: PluginPeers;
  readonly #report: PluginContext['report'];
  readonly #options: WaitsOptions<Kept>;
  /** Entries that this gateway ends when nobody comes. */
  readonly #entries = new Map<string, Entry<Kept> & { readonly timer: NodeJS.Timeout }>();
  readonly #ending = new Set<Promise<void>>();

  constructor({ peers, report }: Pick<PluginContext, 'peers' | 'report'>, options: WaitsOptions<Kept>) {
    this.#peers = peers;
    this.#report = report;
    this.#options = options;
    peers.on('adopt', (entry: Entry<Kept>) => this.#watch(entry));
  }

  /** Has it wait. */
  async add(identity: Identity, kept: Kept): Promise<void> {
    const owner = ownerOf(identity);
    const own = [...this.#entries.values()].filter((entry) => ownerOf(entry.identity) === owner);
    if (own.length >= (this.#options.perUser ?? Number.POSITIVE_INFINITY)) this.#abandon(own[0]!);
    const token = randomUUID();
    const note = JSON.stringify({ token, kept });
    for (const name of this.#options.names(kept))
      await this.#peers.notes.put(noteOf(owner, name), note, { ttlMs: this.#ttlMs });
    this.#watch({ token, kept, identity });
  }

  get #ttlMs(): number {
    return this.#options.waitMs + SLACK_MS;
  }

  #watch(entry: Entry<Kept>): void {
    const timer = setTimeout(() => this.#abandon(entry), this.#options.waitMs).unref();
    this.#entries.set(entry.token, { ...entry, timer });
  }

  /** The first of a caller's that has one of these names and fits, which then waits no more. */
  async take(
    identity: Identity,
    names: Iterable<string>,
    fits: (kept: Kept) => boolean = () => true,
  ): Promise<Kept | null> {
    const owner = ownerOf(identity);
    for (const name of names) {
      const note = await this.#peers.notes.get(noteOf(owner, name));
      if (note === null) continue;
      const { token, kept } = JSON.parse(note) as Omit<Entry<Kept>, 'identity'>;
      if (!fits(kept) || !(await this.#claim(token))) continue;
      await this.#forget(owner, kept);
      return kept;
    }
    return null;
  }

  /** True for one who asks, of all that ask at once. */
  async #claim(token: string): Promise<boolean> {
    const isFirst = await this.#peers.notes.put(`taken:${token}`, '', { ttlMs: this.#ttlMs, once: true });
    this.#remove(token);
    return isFirst;
  }

  #remove(token: string): void {
    clearTimeout(this.#entries.get(token)?.timer);
    this.#entries.delete(token);
  }

  async #forget(owner: string, kept: Kept): Promise<void> {
    for (const name of this.#options.names(kept)) await this.#peers.notes.drop(noteOf(owner, name));
  }

  #abandon(entry: Entry<Kept>): void {
    const ending = this.#end(entry).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #end({ token, kept, identity }: Entry<Kept>): Promise<void> {
    try {
      if (!(await this.#claim(token))) return;
      await this.#options.end(kept, identity);
      await this.#forget(ownerOf(identity), kept);
    } catch (error) {
      this.#report(error, 'what waited for a caller could not be ended');
    }
  }

  /** Ends what nobody can come back to, or has other gateways end it when nobody does. */
  async drain(): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const { timer } of entries) clearTimeout(timer);
    const left = entries.filter(({ kept }) => !this.#options.outlives?.(kept));
    this.#entries.clear();
    await Promise.all(
      left.map(async (entry) => {
        const { token, kept, identity } = entry;
        const adopted = await this.#peers.askAll('adopt', { token, kept, identity });
        if (adopted.length === 0) this.#abandon(entry);
      }),
    );
  }

  /** Resolves when what was to be ended has been. */
  async settled(): Promise<void> {
    await this.drain();
    await Promise.all(this.#ending);
  }
}

function noteOf(owner: string, name: string): string {
  return `wait:${owner}\n${name}`;
}

/** Whose it is. */
function ownerOf({ scope, userKey }: Identity): string {
  return `${scope}\n${userKey}`;
}
