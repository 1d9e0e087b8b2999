import type { ParamsOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import { validate } from '../schema/validate.js';

/** Reads the params of an operation, whatever door they came through. @throws GatewayError `INVALID_PARAMS` */
export function readParams<Name extends OperationName>(name: Name, raw: unknown): ParamsOf<Name> {
  const normal = name in ALIASES && isRecord(raw) ? ALIASES[name as keyof typeof ALIASES](raw) : raw;
  return validate(operationSchemas[name].params, normal ?? {}, `params of ${name}`) as ParamsOf<Name>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Field names of the original system that clients still send. */
const ALIASES = {
  subscribe: (raw: Fields): Fields => ({ ...raw, connectionId: raw.connectionId ?? raw.clientId }),
  'tool-response': (raw: Fields): Fields => {
    const callId = raw.callId ?? raw.toolUseId;
    if (!('result' in raw)) return { ...raw, callId };
    const { result } = raw;
    if (!isRecord(result) || !('approved' in result)) return { ...raw, callId, output: result };
    return { ...raw, ...result, callId };
  },
};

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
