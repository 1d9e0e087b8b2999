import { type Entry, toEntry } from './entry.js';
import { type Delta, JoinedDelta } from './joined-delta.js';
import type { DueFlush, Moderation } from './moderation.js';

/** Most characters of gathered pieces that become one event. */
const MAX_JOINED = 16 * 1024;

/** The writer that owns a gathering. */
interface GatheringListener {
  /** The first entries of a new group come. */
  begun(entries: Entry[]): void;
  /** The pieces have waited long enough. */
  ripe(): void;
}

/** The last group of a log while events join it: the entries of this turn, or pieces of an answer that wait for the next ones. */
export class GatheredPieces {
  readonly #moderation: Moderation;
  readonly #listener: GatheringListener;
  #entries: Entry[] | null = null;
  /** Pieces that are not an entry yet. */
  readonly #pieces = new JoinedDelta({ chars: MAX_JOINED });
  /** The flush that the pieces wait for, while the group has nothing else. */
  #due: DueFlush | null = null;

  constructor(moderation: Moderation, listener: GatheringListener) {
    this.#moderation = moderation;
    this.#listener = listener;
  }

  /** The entries so far, the same object until the group is sealed; null before the first. */
  get entries(): Entry[] | null {
    return this.#entries;
  }

  /** Whether pieces are joined at all. */
  get joins(): boolean {
    return this.#moderation.joins;
  }

  /** Whether the group waits for more pieces. */
  get waits(): boolean {
    return this.#due !== null;
  }

  /** Adds an entry behind the pieces. */
  add(entry: Entry): void {
    this.#settled().push(entry);
  }

  /**
   * Joins a piece with those that are here.
   *
   * @param mayWait Whether a group that begins with it may wait for more.
   * @returns whether the group is to be flushed at the end of this turn of the event loop
   */
  join(piece: Delta, mayWait: boolean): boolean {
    if (mayWait && !this.#due && !this.#entries) this.#due = this.#moderation.within(this.#ripen);
    const entries = this.#entries ?? this.#begin();
    const full = this.#pieces.push(piece);
    if (full) entries.push(toEntry(full));
    return this.#due === null;
  }

  /** Takes back the wait, because something else flushes the group. */
  hasten(): void {
    if (this.#due) this.#due.flush = null;
    this.#due = null;
  }

  /** Closes the group. The next event begins another one. */
  seal(): void {
    if (this.#entries) this.#settled();
    this.#entries = null;
  }

  readonly #ripen = (): void => {
    this.#due = null;
    this.#listener.ripe();
  };

  #begin(): Entry[] {
    this.#entries = [];
    this.#listener.begun(this.#entries);
    return this.#entries;
  }

  /** The entries, with the pieces among them. */
  #settled(): Entry[] {
    const entries = this.#entries ?? this.#begin();
    const piece = this.#pieces.take();
    if (piece) entries.push(toEntry(piece));
    return entries;
  }
}
