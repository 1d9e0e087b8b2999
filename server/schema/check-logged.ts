import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isPromise } from '../async/maybe-promise.js';
import { validate } from './validate.js';

/** A member of its own of a record that hosts wrote; undefined for what objects inherit. */
export function ownOf<T>(all: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return all && Object.hasOwn(all, name) ? all[name] : undefined;
}

/**
 * Checks a value that is about to be logged against the schema of its name, where there is one. What is logged keeps its order, so there
 * is no waiting for an asynchronous schema: it only reports.
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
