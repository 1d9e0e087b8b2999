import type { PluginPeers } from '../plugin.js';
import type { McpLimits } from './options.js';

/** The facts that another gateway needs to go on with a client session. */
export interface SessionNote {
  readonly owner: string;
  /** The client's `initialize`. */
  readonly initialize: unknown;
}

/** The longest time that a note is kept without being used. */
const LONGEST_MS = 2 ** 31 - 1;

/** Client sessions as all gateways on a store know them. A note is kept for as long as any of them uses its session. */
export class ClientNotes {
  readonly #peers: PluginPeers;
  readonly #ttlMs: number;
  readonly #report: (error: unknown, what: string) => void;
  /** The last note that this gateway wrote for each session. */
  readonly #kept = new Map<string, { readonly text: string; at: number }>();

  constructor(
    peers: PluginPeers,
    { idleMs }: Pick<McpLimits, 'idleMs'>,
    report: (error: unknown, what: string) => void,
  ) {
    this.#peers = peers;
    // Longer than a session may be idle, since a use does not always write the note anew.
    this.#ttlMs = Math.min(1.25 * idleMs, LONGEST_MS);
    this.#report = report;
  }

  /** Notes a new session, before its id is told. */
  async begin(id: string, note: SessionNote): Promise<void> {
    await this.#put(id, JSON.stringify(note));
  }

  /** A session that another gateway has noted. */
  async find(id: string): Promise<SessionNote | null> {
    const text = await this.#peers.notes.get(nameOf(id));
    if (text === null) return null;
    this.#kept.set(id, { text, at: Number.NEGATIVE_INFINITY });
    return JSON.parse(text) as SessionNote;
  }

  /** The session is used here, which prolongs its note. */
  used(id: string): void {
    const kept = this.#kept.get(id);
    if (!kept || performance.now() - kept.at < this.#ttlMs / 10) return;
    this.#put(id, kept.text).catch((error: unknown) =>
      this.#report(error, 'the note of an MCP session could not be kept'),
    );
  }

  /** The object of a session is gone here. Other gateways may go on with the session. */
  left(id: string): void {
    this.#kept.delete(id);
  }

  /** The session has made room for another one here. It is over, unless another gateway uses it. */
  async unused(id: string): Promise<void> {
    this.#kept.delete(id);
    const unused = await this.#peers.askAll('unused', id);
    if (!unused.includes(false)) await this.#peers.notes.drop(nameOf(id));
  }

  /** The session is over at all gateways. */
  async end(id: string): Promise<void> {
    this.#kept.delete(id);
    await this.#peers.notes.drop(nameOf(id));
    await this.#peers.askAll('end', id);
  }

  async #put(id: string, text: string): Promise<void> {
    this.#kept.set(id, { text, at: performance.now() });
    await this.#peers.notes.put(nameOf(id), text, { ttlMs: this.#ttlMs });
  }
}

const nameOf = (id: string): string => `session:${id}`;
