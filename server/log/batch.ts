import type { StoredEvent } from '../stores/stored.js';
import { answeringAfter, namesAnswer, type OpenAnswer } from './open-answer.js';

/** The session and conversation that events belong to. */
export interface Origin {
  /** Canonical key of the session. */
  readonly sessionId: string;
  readonly epoch: string;
}

/** A wire form of stored events. Use one object per form: batches cache their encoding by it. */
export interface EventForm<P> {
  /**
   * Stored events, joined into one payload.
   *
   * @param known The answer that the reader knows of; null for a reader that begins here.
   */
  events(events: readonly StoredEvent[], origin: Origin, known: OpenAnswer | null): P;
}

/** The events that one flush committed. They are encoded once per form, for all subscribers. */
export class LogBatch {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
  readonly first: number;
  readonly last: number;
  /** Size of the events, in characters. */
  readonly chars: number;
  /** The run all events belong to; undefined when they are of several runs or of none. */
  readonly runId: string | undefined;
  /** The answer that a reader must know of to get the shared payload; undefined if none. */
  readonly needs: OpenAnswer | undefined;
  /** The answer that readers know of after the batch; undefined if the batch names none. */
  readonly tells: OpenAnswer | null | undefined;
  /** The answer that was being written before the batch, if known. */
  readonly before: OpenAnswer | null;
  // Most sessions have readers of one form, so the first form is kept outside the map.
  #form: EventForm<unknown> | null = null;
  #payload: unknown;
  #others: Map<EventForm<unknown>, unknown> | null = null;

  /** @param before The answer that was being written before the batch, if known. */
  constructor(epoch: string, events: readonly StoredEvent[], before: OpenAnswer | null = null) {
    this.epoch = epoch;
    this.events = events;
    this.first = events[0]!.seq;
    this.last = events.at(-1)!.seq;
    this.before = before;
    let chars = 0;
    let { runId } = events[0]!;
    let needs: OpenAnswer | undefined;
    let tells: OpenAnswer | null | undefined;
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
