import type { ParamsOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import { validate } from '../schema/validate.js';

/** Characters of a method's path, at most. */
const MAX_METHOD = 1024;

/**
 * Reads the params of an operation, for every door.
 *
 * @throws GatewayError `INVALID_PARAMS` naming the field, also for one that the operation does not have
 */
export function readParams<Name extends OperationName>(name: Name, raw: unknown): ParamsOf<Name> {
  return validate(operationSchemas[name].params, raw ?? {}, `params of ${name}`) as ParamsOf<Name>;
}

/**
 * Reads the params of `invoke`. The common form is checked by hand, because this runs for every call; the schema checks all others.
 *
 * @throws GatewayError like `readParams`
 */
export function readInvoke(raw: unknown): ParamsOf<'invoke'> {
  return isBareInvoke(raw) ? raw : readParams('invoke', raw);
}

/** Whether a value is a method with or without its params, and nothing else. */
function isBareInvoke(raw: unknown): raw is ParamsOf<'invoke'> {
  if (!isRecord(raw)) return false;
  for (const name in raw) if (name !== 'method' && name !== 'params') return false;
  const { method } = raw;
  return typeof method === 'string' && method.length > 0 && method.length <= MAX_METHOD;
}

type ParamFields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is ParamFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
