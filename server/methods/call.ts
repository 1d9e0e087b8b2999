import { GatewayError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import { settleWithin } from '../deadline.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { admit } from './admit.js';
import { CallContext } from './call-context.js';
import { runInContext } from './context.js';
import type { MethodEntry } from './flatten.js';
import { validResult } from './result.js';
import { MethodStream } from './stream.js';

/** Bounds of one call. */
export interface CallLimits {
  /** Milliseconds a handler may take; the method's own `timeoutMs` wins. Streams are bounded by their own alone. */
  readonly timeoutMs?: number;
}

/**
 * Calls a method: roles, schema, guard, handler, in this order and within the call's context. Where no step is asynchronous, the
 * result is no promise, and a failure is thrown.
 *
 * The context's signal is aborted when the caller's is or the time is up. What a handler throws passes through as it is.
 *
 * @throws GatewayError `GUARD_DENIED`, `INVALID_PARAMS`, `TIMEOUT`; `INTERNAL` for a result that does not match the method's
 *   result schema (the faults are its `cause`) or is an async iterable; `INVALID_REQUEST` for a streaming method.
 */
export function callMethod(
  entry: MethodEntry,
  params: unknown,
  context: MethodContext,
  limits: CallLimits = {},
): MaybePromise<unknown> {
  if (entry.stream) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `${entry.path} is a streaming method` });
  }
  const call = new CallContext(context);
  const timeoutMs = entry.definition.timeoutMs ?? limits.timeoutMs;
  let outcome: MaybePromise<unknown>;
  try {
    outcome = runInContext(call, () =>
      andThen(admit(entry, params, call), (input) => handle(entry, input, call, timeoutMs)),
    );
  } catch (error) {
    call.release();
    throw error;
  }
  if (isPromise(outcome)) return outcome.finally(() => call.release());
  call.release();
  return outcome;
}

/**
 * Calls a streaming method. The checks and the handler run at the first `next()`, or at `open()` for callers that must know of a
 * denial before they answer. See `MethodStream`.
 *
 * @throws GatewayError `INVALID_REQUEST` for a method that does not stream.
 */
export function streamMethod(
  entry: MethodEntry,
  params: unknown,
  context: MethodContext,
  closed?: () => void,
): MethodStream {
  if (!entry.stream) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `${entry.path} is not a streaming method` });
  }
  return new MethodStream(entry, params, context, closed);
}

function handle(
  entry: MethodEntry,
  input: unknown,
  call: CallContext,
  timeoutMs: number | undefined,
): MaybePromise<unknown> {
  const returned = entry.definition.handler(input, call);
  if (!isPromise(returned)) return finish(entry, returned);
  const settled = settleWithin(returned, timeoutMs, () => {
    const error = new GatewayError({
      code: 'TIMEOUT',
      message: `${entry.path} took longer than ${timeoutMs} ms`,
    });
    return { error, after: () => call.abort(error) };
  });
  return settled.then((value) => finish(entry, value));
}

function finish(entry: MethodEntry, value: unknown): MaybePromise<unknown> {
  if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `${entry.path} returned an async iterable; write it as an async generator or declare method({ stream: true })`,
    });
  }
  return validResult(entry, value);
}
