import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { Dialect } from '../plugin.js';

/** A consumer of a run's events. */
interface RunConsumer {
  /** Whether it needs no more. */
  readonly over?: boolean;
  /** @param next The events that came together with it, and follow */
  take(event: GatewayEvent, next: readonly GatewayEvent[]): unknown;
  /** Nothing follows the last event yet. */
  head?(): unknown;
}

/**
 * Reads a run without telling it.
 *
 * @param until The head: the part that exists now. @default 'head'
 * @throws GatewayError `CURSOR_GONE` if a part of it is no longer kept
 */
export function reading<State extends RunConsumer>(
  state: State,
  until: 'head' | 'over' = 'head',
): Dialect<State> {
  return {
    begin: () => ({ state, text: '' }),
    encode(_, events, { isHead }) {
      for (const [at, event] of events.entries()) {
        assertNext(event);
        state.take(event, events.slice(at + 1));
        if (state.over) return { state, text: '', over: true };
      }
      if (isHead) state.head?.();
      return { state, text: '', over: state.over || (isHead && until === 'head') };
    },
  };
}

/**
 * Tells a session for as long as somebody reads.
 *
 * @param tell The text for an event, with those that came together with it and follow
 * @throws GatewayError `CURSOR_GONE` if a part of it is no longer kept
 */
export function telling(tell: (event: GatewayEvent, next: readonly GatewayEvent[]) => string): Dialect<null> {
  return {
    // The head goes out with a comment, so that a client knows that its request was accepted.
    begin: () => ({ state: null, text: ':\n\n' }),
    encode(state, events) {
      const texts = events.map((event, at) => {
        assertNext(event);
        return tell(event, events.slice(at + 1));
      });
      return { state, text: texts.join('') };
    },
  };
}

/** @throws GatewayError if an event says that those behind it are not the next ones */
function assertNext({ type }: GatewayEvent): void {
  if (type === 'gap') throw new GatewayError({ code: 'CURSOR_GONE' });
  if (type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
}
