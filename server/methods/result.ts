import { GatewayError } from '../../shared/errors.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { accept, check, type Outcome } from '../schema/validate.js';
import type { MethodEntry } from './flatten.js';

/**
 * Validates a result, or one item of a stream, with the method's result schema, if it has one.
 *
 * @throws GatewayError `INTERNAL`: the fault is the method's. Which fields are wrong is said in its `cause` alone, for the log.
 */
export function validResult(entry: MethodEntry, value: unknown): MaybePromise<unknown> {
  const { result } = entry.definition;
  return result ? andThen(check(result, value), (outcome) => acceptResult(entry.path, outcome)) : value;
}

function acceptResult(path: string, outcome: Outcome): unknown {
  try {
    return accept(outcome, `result of ${path}`);
  } catch (cause) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `The result of ${path} does not match its result schema`,
      cause,
    });
  }
}
