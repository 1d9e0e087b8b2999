import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isPromise } from '../async/maybe-promise.js';
import { validate } from './validate.js';

/** An own member of a host's record; undefined for inherited names. */
export function ownOf<T>(all: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return all && Object.hasOwn(all, name) ? all[name] : undefined;
}

/**
 * Checks a value about to be logged against the schema of its name, if there is one. Logged values keep their order, so an asynchronous
 * schema is not awaited and only reports.
 *
 * @throws GatewayError `INVALID_PARAMS` for a value that does not fit
 */
export function checkLogged(
  schemas: Readonly<Record<string, StandardSchemaV1>> | undefined,
  name: string,
  value: unknown,
  report: (error: unknown) => void,
): void {
  const schema = ownOf(schemas, name);
  const outcome = schema && validate(schema, value, `payload of ${name}`);
  if (isPromise(outcome)) outcome.catch(report);
}
