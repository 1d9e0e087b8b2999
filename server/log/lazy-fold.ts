import { type EventOf, type GatewayEvent, isDelta } from '../../shared/events.js';
import { reduce, type SessionState } from '../../shared/fold.js';

type Delta = EventOf<'content_delta' | 'reasoning_delta'>;

/** Events that may wait to be folded. */
const PENDING = 1024;

/** A fold that is worked out when somebody looks: the deltas of a stretch are then one step, not one each. */
export class LazyFold {
  #state: SessionState;
  #pending: GatewayEvent[] = [];

  constructor(state: SessionState) {
    this.#state = state;
  }

  add(event: GatewayEvent): void {
    if (this.#pending.push(event) >= PENDING) this.#fold();
  }

  get state(): SessionState {
    if (this.#pending.length > 0) this.#fold();
    return this.#state;
  }

  set state(state: SessionState) {
    this.#state = state;
    this.#pending = [];
  }

  #fold(): void {
    const events = this.#pending;
    this.#pending = [];
    for (let i = 0; i < events.length; i++) {
      let event = events[i]!;
      if (isDelta(event)) {
        let text = event.delta;
        for (let next = events[i + 1]; next && continues(event, next); next = events[i + 1]) {
          text += next.delta;
          i += 1;
        }
        event = { ...event, delta: text };
      }
      this.#state = reduce(this.#state, event);
    }
  }
}

function continues(delta: Delta, next: GatewayEvent): next is Delta {
  return (
    isDelta(next) && next.type === delta.type && next.runId === delta.runId && next.index === delta.index
  );
}
