import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { Dialect } from '../plugin.js';

/** A consumer of a run's events. */
interface RunConsumer {
  /** Whether it needs no more. */
  readonly over?: boolean;
  take(event: GatewayEvent): unknown;
  /** Nothing follows the last event yet. */
  head(): unknown;
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
      for (const event of events) {
        if (event.type === 'gap') throw new GatewayError({ code: 'CURSOR_GONE' });
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        state.take(event);
        if (state.over) return { state, text: '', over: true };
      }
      if (isHead) state.head();
      return { state, text: '', over: state.over || (isHead && until === 'head') };
    },
  };
}
