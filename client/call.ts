import { type CallName, isCall } from '../shared/calls.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { Accepted, ParamsOf, ResultOf } from '../shared/operation-types.js';
import type { SignalOptions } from './options.js';
import type { ClientPerson } from './person.js';
import type { Retries } from './retries.js';
import { type Aborts, inTime, openScope, within } from './timing.js';
import { addressOf, failed, foreign, isUnsent, lateness } from './transport/failure.js';
import type { ClientTransport } from './transport/transport.js';

const SEND_RETRIES = 6;
const READ_RETRIES = 2;
/** A gateway that asks for a longer wait is not asked again: the error says how long to wait. */
const LONGEST_WAIT_MS = 60_000;

/** An attempt failed and another one follows. `hurry` ends the wait for it. */
export type OnRetry = (error: GatewayError, hurry: () => void) => void;

/** Asks for one operation. Operations that are safe to repeat are retried when the gateway cannot take them now. */
export type OperationCaller = <Name extends CallName>(
  operation: Name,
  options: (ParamsOf<Name> & SignalOptions) | undefined,
  onRetry?: OnRetry,
) => Promise<ResultOf<Name>>;

export interface OperationCallOptions {
  readonly transport: ClientTransport;
  /** The limit of each attempt, in milliseconds. */
  readonly timeoutMs: number;
  readonly aborts: Aborts;
  readonly retries: Retries;
  readonly person: ClientPerson;
  /** The gateway has answered. */
  onAnswer(): void;
}

export function createCall({
  transport,
  timeoutMs,
  aborts,
  retries,
  person,
  onAnswer,
}: OperationCallOptions): OperationCaller {
  return (operation, { signal: given, ...params }: SignalOptions = {}, onRetry) => {
    const scope = openScope(given, aborts);
    const { signal } = scope;
    const isRun = isCall(operation, 'run');
    const { user, life } = person;
    let mayHaveArrived = false;
    return within(scope, async () => {
      for (let tried = 0; ; tried++) {
        try {
          const answer = await inTime(
            timeoutMs,
            () => lateness(addressOf(transport), operation, timeoutMs),
            // The first attempt is that of whoever is there. A later one may only be by the same person.
            (signal) =>
              transport.request(operation, isRun && tried && user ? { onlyAs: user, ...params } : params, {
                signal,
              }),
            signal,
          );
          // Not a gateway, but for example the login page of a hotel's network.
          if ((isRun || operation === 'run') && !(answer as Accepted | null)?.runId)
            throw foreign(addressOf(transport), 'not with a run');
          onAnswer();
          return answer as never;
        } catch (cause) {
          if (signal.aborted) throw signal.reason;
          const error = failed(transport, operation, cause);
          mayHaveArrived ||= mayHaveEffect(error);
          if (tried >= retriesOf(operation, mayHaveArrived) || !mayPass(error)) throw error;
          await retries.wait(error, tried, signal, (hurry) => onRetry?.(error, hurry));
          if (life !== person.life) throw error;
        }
      }
    });
  };
}

/**
 * The number of retries of an operation, if they are safe.
 *
 * @param mayHaveArrived A message that may have been accepted is asked for until its fate is known: "not sent" could be wrong.
 */
function retriesOf(operation: CallName, mayHaveArrived: boolean): number {
  if (isCall(operation, 'run')) return mayHaveArrived ? Number.POSITIVE_INFINITY : SEND_RETRIES;
  const isSafe = isCall(operation, 'GET') || isCall(operation, 'same');
  return isSafe || (isCall(operation, 'once') && !mayHaveArrived) ? READ_RETRIES : 0;
}

/** Whether the same may succeed later. */
export function mayPass({ code, status, retryable, retryAfterMs }: GatewayError): boolean {
  if (retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS) return false;
  if (status === 429) return retryAfterMs !== undefined;
  return !!retryable || code === 'TIMEOUT';
}

/** Whether a request that failed with this error may have had its effect. */
function mayHaveEffect(error: GatewayError): boolean {
  const { code, details } = error;
  // The gateway adds `outcome: 'unknown'` when its store has not answered.
  const isUnknown = (details as { readonly outcome?: 'unknown' } | undefined)?.outcome;
  return !isUnsent(error) && (code === 'NETWORK' || code === 'TIMEOUT' || !!isUnknown);
}
