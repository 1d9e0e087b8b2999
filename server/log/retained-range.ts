import { initialState } from '../../shared/fold.js';
import type { Checkpoint, StoredEvent } from '../stores/stored.js';

/** The fold before any event. */
const BEGINNING: Checkpoint = Object.freeze({ seq: 0, state: initialState });

/** The retained events of a log: their first, their size, and the fold before them. */
export class RetainedRange {
  #base: Checkpoint;
  #first: number;
  /** Size of the counted events, in characters. */
  #chars = 0;
  #counted: number;
  /** Time of the oldest event, if known. */
  #oldestAt: number | null = null;

  constructor(base: Checkpoint | null) {
    this.#base = base ?? BEGINNING;
    this.#counted = this.#base.seq;
    this.#first = this.#base.seq + 1;
  }

  /** Lowest retained sequence number; one above the head if nothing is retained. */
  get first(): number {
    return this.#first;
  }

  /** The fold just before `first`. */
  get base(): Checkpoint {
    return this.#base;
  }

  get chars(): number {
    return this.#chars;
  }

  get oldestAt(): number | null {
    return this.#oldestAt;
  }

  set oldestAt(at: number | null) {
    this.#oldestAt = at;
  }

  /** Counts an event. Call it once per event. */
  added({ seq, ts, body }: StoredEvent): void {
    if (seq <= this.#counted) return;
    this.#counted = seq;
    if (seq === this.first) this.#oldestAt = ts;
    this.#chars += body.length;
  }

  /** Takes a base that says something else, if there is another, and what the events grew by. */
  rewritten(base: Checkpoint | undefined, grown: number): void {
    if (base?.seq === this.#base.seq) this.#base = base;
    this.#chars += grown;
  }

  /** Moves the range to a later base. @param size Size of the events before the base, in characters */
  move(base: Checkpoint, size: number): void {
    this.#base = base;
    this.#first = base.seq + 1;
    this.#chars -= size;
    this.#oldestAt = null;
  }
}
