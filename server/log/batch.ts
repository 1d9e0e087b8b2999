import type { WireForm } from '../delivery/wire-form.js';
import type { StoredEvent } from '../stores/store.js';

/** What one flush committed. Encoded once for each wire form, however many subscribers there are. */
export class LogBatch {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
  readonly first: number;
  readonly last: number;
  /** The run all events belong to; undefined when they are of several runs or of none. */
  readonly runId: string | undefined;
  // Most sessions have readers of one form only, and most batches are looked at once.
  #form: WireForm<unknown> | null = null;
  #payload: unknown;
  #others: Map<WireForm<unknown>, unknown> | null = null;

  constructor(epoch: string, events: readonly StoredEvent[]) {
    this.epoch = epoch;
    this.events = events;
    this.first = events[0]!.seq;
    this.last = events.at(-1)!.seq;
    const { runId } = events[0]!;
    this.runId = events.every((event) => event.runId === runId) ? runId : undefined;
  }

  payload<P>(form: WireForm<P>, sessionId: string): P {
    if (this.#form === form) return this.#payload as P;
    let payload = this.#others?.get(form) as P | undefined;
    if (payload !== undefined) return payload;
    payload = form.events(this.events, sessionId, this.epoch);
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
