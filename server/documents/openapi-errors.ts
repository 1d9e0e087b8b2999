import { ERROR_TABLE, type ErrorCode, GatewayError } from '../../shared/errors.js';
import { codesByStatus } from './errors.js';
import type { Described } from './routes.js';
import { type Components, refTo } from './schemas.js';

const SCHEMA = refTo('ErrorAnswer');

/** The body of every error response. */
export const errorSchemas: Components = {
  ErrorAnswer: { type: 'object', required: ['error'], properties: { error: refTo('ErrorBody') } },
};

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds after which a retry makes sense', schema: { type: 'integer' } },
};
const CHALLENGE = { 'WWW-Authenticate': { description: '`Bearer`', schema: { type: 'string' } } };

/** The error responses of a route, by status. `x-codes` has the gateway's codes; errors of a host may have others. */
export function errorResponses(described: Described): Readonly<Record<string, object>> {
  const responses: Record<string, object> = {};
  for (const [status, codes] of codesByStatus(described)) {
    const headers = status === 401 ? CHALLENGE : status === 429 || status === 503 ? RETRY_AFTER : undefined;
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${ERROR_TABLE[code].message}`).join('; '),
      ...(headers && { headers }),
      content: { 'application/json': { schema: SCHEMA, examples: examplesOf(codes) } },
      'x-codes': codes,
    };
  }
  responses.default = {
    description: "An error of the host's own, with the status it chose",
    content: { 'application/json': { schema: SCHEMA } },
  };
  return responses;
}

function examplesOf(codes: readonly ErrorCode[]): object {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

/** One example for each error code of the routes. */
export function errorExamples(routes: readonly Described[]): object {
  const codes = new Set(routes.flatMap((described) => [...codesByStatus(described).values()].flat()));
  return Object.fromEntries(
    [...codes]
      .sort()
      .map((code) => [code, { summary: code, value: { error: new GatewayError({ code }).toJSON() } }]),
  );
}
