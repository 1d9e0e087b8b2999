import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { Dialect } from '../plugin.js';

/** What takes in a run's events. */
interface Reader {
  /** Whether it needs no more. */
  readonly over?: boolean;
  take(event: GatewayEvent): unknown;
  /** There is nothing behind the last event yet. */
  head(): unknown;
}

/**
 * Reads a run without telling it.
 *
 * @param until The head: what there is so far. @default 'head'
 * @throws GatewayError `CURSOR_GONE` where something of it is not kept any more
 */
export function reading<State extends Reader>(state: State, until: 'head' | 'over' = 'head'): Dialect<State> {
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
