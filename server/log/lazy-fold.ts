import { type EventOf, type GatewayEvent, isDelta } from '../../shared/events.js';
import { reduce, type SessionState } from '../../shared/fold.js';

type Delta = EventOf<'content_delta' | 'reasoning_delta'>;

/** Deltas that are put together before they are folded. */
const GATHERED = 64;

/** A fold in which the deltas of a stretch are one step, not one each. */
export class LazyFold {
  #state: SessionState;
  /** The first of the deltas that are not folded yet; all are pieces of the same block. */
  #delta: Delta | null = null;
  #text = '';
  #gathered = 0;

  constructor(state: SessionState) {
    this.#state = state;
  }

  add(event: GatewayEvent): void {
    const delta = this.#delta;
    if (delta && continues(delta, event)) {
      this.#text += event.delta;
      this.#gathered += 1;
      if (this.#gathered >= GATHERED) this.#fold();
      return;
    }
    if (delta) this.#fold();
    if (isDelta(event)) {
      this.#delta = event;
      this.#text = event.delta;
      this.#gathered = 1;
    } else this.#state = reduce(this.#state, event);
  }

  get state(): SessionState {
    if (this.#delta) this.#fold();
    return this.#state;
  }

  set state(state: SessionState) {
    this.#state = state;
    this.#delta = null;
  }

  #fold(): void {
    const event = { ...this.#delta!, delta: this.#text };
    this.#delta = null;
    this.#text = '';
    this.#state = reduce(this.#state, event);
  }
}

function continues(delta: Delta, next: GatewayEvent): next is Delta {
  return next.type === delta.type && next.runId === delta.runId && next.index === delta.index;
}
