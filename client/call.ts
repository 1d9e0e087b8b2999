import { CALLS, type CallName } from '../shared/calls.js';
import { GatewayError } from '../shared/gateway-error.js';
import type { ParamsOf, ResultOf } from '../shared/operation-types.js';
import type { SignalOptions } from './options.js';
import { type Aborts, backoff, delay, joinAborts, quietTimer } from './timing.js';
import type { ClientTransport } from './transport/transport.js';

const SEND_RETRIES = 6;
const READ_RETRIES = 2;
/** Longer timers would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Asks for one operation. Those that are safe to repeat are tried again when the gateway cannot take them now. */
export type Call = <Name extends CallName>(
  operation: Name,
  options: ParamsOf<Name> & SignalOptions,
) => Promise<ResultOf<Name>>;

export function createCall(transport: ClientTransport, timeoutMs: number, aborts: Aborts): Call {
  return async (operation, { signal: given, ...params }) => {
    for (let tried = 0; ; tried++) {
      const { joined, release } = joinAborts(aborts, given);
      const { signal } = joined;
      const expire = () =>
        joined.abort(new GatewayError({ code: 'TIMEOUT', message: 'The call took too long' }));
      const timer = quietTimer(Math.min(timeoutMs, LONGEST_TIMER_MS), expire);
      try {
        signal.throwIfAborted();
        return (await transport.request(operation, params, { signal })) as never;
      } catch (cause) {
        clearTimeout(timer);
        const error: GatewayError = signal.aborted ? signal.reason : cause;
        if (tried >= retriesOf(operation) || !mayPass(error, operation)) throw error;
        await delay(backoff(tried, error.retryAfterMs), aborts, given);
      } finally {
        clearTimeout(timer);
        release();
      }
    }
  };
}

/** A send is safe to repeat because it carries an idempotency key. */
function retriesOf(operation: CallName): number {
  if (operation === 'send') return SEND_RETRIES;
  return CALLS[operation].http === 'GET' || operation === 'abort' ? READ_RETRIES : 0;
}

function mayPass({ code, status, retryable, retryAfterMs }: GatewayError, operation: CallName): boolean {
  if (status === 429) return retryAfterMs !== undefined;
  return retryable || (code === 'TIMEOUT' && operation === 'send');
}
