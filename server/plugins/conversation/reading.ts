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
        if (event.type === 'gap') throw new GatewayError({ code: 'CURSOR_GONE' });
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        state.take(event, events.slice(at + 1));
        if (state.over) return { state, text: '', over: true };
      }
      if (isHead) state.head?.();
      return { state, text: '', over: state.over || (isHead && until === 'head') };
    },
  };
}
