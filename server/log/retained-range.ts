import { type Checkpoint, firstCheckpoint, type StoredEvent } from '../stores/store.js';

/** The fold before any event. */
const BEGINNING: Checkpoint = Object.freeze(firstCheckpoint());

/** What is kept of a log: from which event on, how much that is, and what was folded before. */
export class RetainedRange {
  #base: Checkpoint;
  #first: number;
  /** Size of the events that were counted, in characters. */
  #chars = 0;
  #counted: number;
  /** When the oldest was written, where that is known. */
  #oldestAt: number | null = null;

  constructor(base: Checkpoint | null) {
    this.#base = base ?? BEGINNING;
    this.#counted = this.#base.seq;
    this.#first = this.#base.seq + 1;
  }

  /** Lowest retained sequence number; one above the head when nothing is retained. */
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

  /** Counts an event, once. */
  added({ seq, ts, body }: StoredEvent): void {
    if (seq <= this.#counted) return;
    this.#counted = seq;
    if (seq === this.first) this.#oldestAt = ts;
    this.#chars += body.length;
  }

  /** Goes on from a later base. @param size Of the events before it, in characters */
  move(base: Checkpoint, size: number): void {
    this.#base = base;
    this.#first = base.seq + 1;
    this.#chars -= size;
    this.#oldestAt = null;
  }
}
