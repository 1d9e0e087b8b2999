import { asUnavailable } from '../log/unavailable.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';

/** Kind of the records of notes, and their id: each is the only record of its home. */
export const NOTE = 'note';
/** Options of `Notes.put`. */
export interface NoteOptions {
  /** Milliseconds until the note is forgotten. */
  readonly ttlMs: number;
  /** Keeps the note only if there is none of its name. @default false: the note replaces the other */
  readonly once?: boolean;
}

/**
 * Facts about clients, which may reach another gateway next, or this one after a restart. Each is a record that is due when it is forgotten.
 * Every method throws `OVERLOADED` if the store can't be reached.
 */
export class Notes {
  readonly #store: Pick<Store, 'records' | 'changeRecords' | 'shared'>;

  constructor(store: Pick<Store, 'records' | 'changeRecords' | 'shared'>) {
    this.#store = store;
  }

  /** The time by the store's clock, which all gateways on the store share, in milliseconds since the epoch. @param at A time by this process's clock */
  time(at?: number): number {
    return storeTime(this.#store, at);
  }

  /** @returns Whether this note was kept; from then on all gateways on the store can read it */
  async put(name: string, value: string, { ttlMs, once = false }: NoteOptions): Promise<boolean> {
    const now = this.time();
    const note = { kind: NOTE, id: NOTE, dueAt: now + ttlMs, value: JSON.stringify(value) };
    if (!once) return this.#change(name, note);
    if (await this.#change(name, { ...note, token: 0 })) return true;
    const kept = await this.#find(name);
    // One that is over may wait for its removal.
    return kept !== undefined && !isKept(kept, now) && this.#change(name, { ...note, token: kept.token });
  }

  /** The value of a note, or null if there is none. */
  async get(name: string): Promise<string | null> {
    const note = await this.#find(name);
    return note && isKept(note, this.time()) ? (JSON.parse(note.value) as string) : null;
  }

  /** Forgets a note. */
  async drop(name: string): Promise<void> {
    await this.#change(name, { kind: NOTE, id: NOTE });
  }

  async #find(name: string): Promise<StoredRecord | undefined> {
    const named = { home: homeOfNote(name), kind: NOTE, id: NOTE, limit: 1 };
    return (await asUnavailable(() => this.#store.records(named)))[0];
  }

  async #change(name: string, change: RecordChange): Promise<boolean> {
    return asUnavailable(() => this.#store.changeRecords(homeOfNote(name), [change], { mayRepeat: true }));
  }
}

const isKept = ({ dueAt = 0 }: StoredRecord, now: number): boolean => dueAt > now;

/** A home of its own, which no user has: so a group of servers shares the load. */
const homeOfNote = (name: string): RecordHome => ({ scope: `${NOTE}:${name}` });
