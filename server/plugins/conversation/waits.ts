import { randomUUID } from 'node:crypto';
import type { Person } from '../../auth/types.js';
import type { PluginContext, PluginPeers } from '../plugin.js';

/** Milliseconds for which a note outlives its wait, so that a late caller is told that it is over. */
const SLACK_MS = 60_000;

/** Options of waits. `Kept` is a plain value, so that another gateway may go on with it. */
export interface CallerWaitsOptions<Kept> {
  /** The length of a wait, in milliseconds. */
  readonly waitMs: number;
  /** The number of entries that may wait here for one user. A further one ends the oldest. @default any number */
  readonly perUser?: number;
  /** The names under which an entry is found. */
  names(kept: Kept): readonly string[];
  /** Ends an entry whose caller did not come back. */
  end(kept: Kept, person: Person): Promise<void>;
  /** Whether a caller can go on after all gateways have forgotten the entry, so that a closing gateway leaves it alone. @default false */
  outlives?(kept: Kept): boolean;
}

/** A waiting entry. */
interface WaitEntry<Kept> {
  /** The id of this wait. */
  readonly token: string;
  readonly kept: Kept;
  readonly person: Person;
}

/**
 * Entries that wait for callers to bring something back. Only an entry's own caller can take it. On a shared store a caller may come to any
 * gateway, and exactly one gateway continues an entry or ends it.
 */
export class CallerWaits<Kept> {
  readonly #peers: PluginPeers;
  readonly #report: PluginContext['report'];
  readonly #options: CallerWaitsOptions<Kept>;
  /** Entries that this gateway ends if no caller comes. */
  readonly #entries = new Map<string, WaitEntry<Kept> & { readonly timer: NodeJS.Timeout }>();
  readonly #ending = new Set<Promise<void>>();

  constructor({ peers, report }: Pick<PluginContext, 'peers' | 'report'>, options: CallerWaitsOptions<Kept>) {
    this.#peers = peers;
    this.#report = report;
    this.#options = options;
    peers.on('adopt', (entry: WaitEntry<Kept>) => this.#watch(entry));
  }

  /** Adds an entry. */
  async add(person: Person, kept: Kept): Promise<void> {
    const owner = ownerOf(person);
    const own = [...this.#entries.values()].filter((entry) => ownerOf(entry.person) === owner);
    if (own.length >= (this.#options.perUser ?? Number.POSITIVE_INFINITY)) this.#abandon(own[0]!);
    const token = randomUUID();
    const note = JSON.stringify({ token, kept });
    for (const name of this.#options.names(kept))
      await this.#peers.notes.put(noteOf(owner, name), note, { ttlMs: this.#ttlMs });
    this.#watch({ token, kept, person });
  }

  get #ttlMs(): number {
    return this.#options.waitMs + SLACK_MS;
  }

  #watch(entry: WaitEntry<Kept>): void {
    const timer = setTimeout(() => this.#abandon(entry), this.#options.waitMs).unref();
    this.#entries.set(entry.token, { ...entry, timer });
  }

  /** Takes the first entry of a caller that has one of these names and fits. */
  async take(
    person: Person,
    names: Iterable<string>,
    fits: (kept: Kept) => boolean = () => true,
  ): Promise<Kept | null> {
    const owner = ownerOf(person);
    for (const name of names) {
      const note = await this.#peers.notes.get(noteOf(owner, name));
      if (note === null) continue;
      const { token, kept } = JSON.parse(note) as Omit<WaitEntry<Kept>, 'person'>;
      if (!fits(kept) || !(await this.#claim(token))) continue;
      await this.#forget(owner, kept);
      return kept;
    }
    return null;
  }

  /** True for exactly one of all concurrent calls. */
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

  #abandon(entry: WaitEntry<Kept>): void {
    const ending = this.#end(entry).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #end({ token, kept, person }: WaitEntry<Kept>): Promise<void> {
    try {
      if (!(await this.#claim(token))) return;
      await this.#options.end(kept, person);
      await this.#forget(ownerOf(person), kept);
    } catch (error) {
      this.#report(error, 'what waited for a caller could not be ended');
    }
  }

  /** Ends the entries that no caller can come back to, or has other gateways end them in time. */
  async drain(): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const { timer } of entries) clearTimeout(timer);
    const left = entries.filter(({ kept }) => !this.#options.outlives?.(kept));
    this.#entries.clear();
    await Promise.all(
      left.map(async (entry) => {
        const { token, kept, person } = entry;
        const adopted = await this.#peers.askAll('adopt', { token, kept, person });
        if (adopted.length === 0) this.#abandon(entry);
      }),
    );
  }

  /** Resolves when all entries that had to end have ended. */
  async settled(): Promise<void> {
    await this.drain();
    await Promise.all(this.#ending);
  }
}

function noteOf(owner: string, name: string): string {
  return `wait:${owner}\n${name}`;
}

/** The owner of an entry. */
function ownerOf({ scope, key: userKey }: Person): string {
  return `${scope}\n${userKey}`;
}
