import type { StoredEvent } from '../stores/store.js';
import { type Answering, answeringAfter, namesAnswer } from './answering.js';

/** Where events are from. */
export interface Origin {
  /** Canonical key. */
  readonly sessionId: string;
  readonly epoch: string;
}

/** How stored events are written. One object per form: batches cache what they encoded by it. */
export interface EventForm<P> {
  /**
   * Stored events, joined into one payload.
   *
   * @param known The answer that their reader knows to be written; null for whoever begins to read.
   */
  events(events: readonly StoredEvent[], origin: Origin, known: Answering | null): P;
}

/** What one flush committed. Encoded once for each form, however many subscribers there are. */
export class LogBatch {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
  readonly first: number;
  readonly last: number;
  /** Size of the events, in characters. */
  readonly chars: number;
  /** The run all events belong to; undefined when they are of several runs or of none. */
  readonly runId: string | undefined;
  /** What readers have to know of the answer that is being written to be given the shared payload; undefined for nothing. */
  readonly needs: Answering | undefined;
  /** What readers know of it afterwards; undefined where it says nothing of it. */
  readonly tells: Answering | null | undefined;
  /** The answer that was being written when it began, as far as it is known. */
  readonly before: Answering | null;
  // Most sessions have readers of one form only, and most batches are looked at once.
  #form: EventForm<unknown> | null = null;
  #payload: unknown;
  #others: Map<EventForm<unknown>, unknown> | null = null;

  /** @param before The answer that was being written when it began, as far as it is known. */
  constructor(epoch: string, events: readonly StoredEvent[], before: Answering | null = null) {
    this.epoch = epoch;
    this.events = events;
    this.first = events[0]!.seq;
    this.last = events.at(-1)!.seq;
    this.before = before;
    let chars = 0;
    let { runId } = events[0]!;
    let needs: Answering | undefined;
    let tells: Answering | null | undefined;
    // One pass: most batches are one delta.
    for (const event of events) {
      chars += event.body.length;
      if (event.runId !== runId) runId = undefined;
      if (!namesAnswer(event)) continue;
      if (tells === undefined && before?.has(event)) {
        needs = before;
        tells = before;
      } else tells = answeringAfter(event, tells === undefined ? before : tells);
    }
    this.chars = chars;
    this.runId = runId;
    this.needs = needs;
    this.tells = tells;
  }

  payload<P>(form: EventForm<P>, sessionId: string): P {
    if (this.#form === form) return this.#payload as P;
    let payload = this.#others?.get(form) as P | undefined;
    if (payload !== undefined) return payload;
    payload = form.events(this.events, { sessionId, epoch: this.epoch }, this.before);
    if (!this.#form) {
      this.#form = form;
      this.#payload = payload;
    } else {
      this.#others ??= new Map();
      this.#others.set(form, payload);
    }
    return payload;
  }
}
