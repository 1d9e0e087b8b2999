import type { ParamsOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import { validate } from '../schema/validate.js';

/**
 * Reads the params of an operation, whatever door they came through.
 *
 * @throws GatewayError `INVALID_PARAMS`, also for a field that the operation does not have, naming it
 */
export function readParams<Name extends OperationName>(name: Name, raw: unknown): ParamsOf<Name> {
  const normal = isRecord(raw) ? withoutAliases(name, raw) : raw;
  return validate(operationSchemas[name].params, normal ?? {}, `params of ${name}`) as ParamsOf<Name>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Field names of the original system that clients still send. Who a client says it is counts for nothing, and is no error. */
function withoutAliases(name: OperationName, raw: Fields): Fields {
  if (name === 'tool-response') return toolResponse(raw);
  if (!('clientId' in raw)) return raw;
  const { clientId, ...fields } = raw;
  return name === 'subscribe' ? { connectionId: clientId, ...fields } : fields;
}

function toolResponse({ clientId: _ignored, toolUseId, result, ...fields }: Fields): Fields {
  const named = toolUseId === undefined ? fields : { callId: toolUseId, ...fields };
  if (result === undefined) return named;
  return isRecord(result) && 'approved' in result ? { ...named, ...result } : { ...named, output: result };
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
