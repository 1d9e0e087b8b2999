import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import { beginError, saidOf, sendJson } from '../conversation/answering.js';
import { type CallerTerms, type FieldProblem, inTerms } from '../conversation/errors.js';

/** The id of a request, which all its answers have. */
export type RpcId = string | number | null;

export interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

/** The errors that the protocol names, by their reasons. */
const NAMED = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  VERSION_NOT_SUPPORTED: -32009,
  METHOD_NOT_FOUND: -32601,
  INVALID_REQUEST: -32600,
} as const;

/** An error that the protocol has a code for. */
export class A2aError extends GatewayError {
  constructor(
    readonly reason: keyof typeof NAMED,
    message: string,
  ) {
    super({ code: 'INVALID_REQUEST', status: reason === 'TASK_NOT_FOUND' ? 404 : 400, message });
  }
}

const envelope = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(1024), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.unknown().optional(),
});

/** Reads a request. @throws A2aError */
export function readRpc(body: unknown): RpcRequest {
  const read = envelope.safeParse(body);
  if (!read.success) throw new A2aError('INVALID_REQUEST', 'The body must be one request of JSON-RPC 2.0');
  const { id = null, method, params = {} } = read.data;
  return { id, method, params };
}

/** The client's names for what a request passes on. */
const TERMS: CallerTerms = {
  message: 'message.parts',
  metadata: 'message.metadata',
  idempotencyKey: 'message.messageId',
  sessionId: 'message.contextId',
};

const DOMAIN = 'a2a-protocol.org';

/** Answers with an error in the protocol's form. A response that has begun is cut. */
export function sendRpcError(response: ServerResponse, id: RpcId, error: GatewayError): void {
  const status = beginError(error, response);
  if (status !== null) sendJson(response, { jsonrpc: '2.0', id, error: errorObject(error) }, status);
}

function errorObject(error: GatewayError): object {
  const own = inTerms(TERMS, error);
  const message = saidOf(own);
  const { code, details } = own;
  const reason = error instanceof A2aError ? error.reason : code;
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: DOMAIN };
  if (error instanceof A2aError) return { code: NAMED[error.reason], message, data: [info] };
  if (error.cause instanceof SyntaxError) return { code: -32700, message, data: [info] };
  if (code !== 'INVALID_REQUEST' && code !== 'INVALID_PARAMS') return { code: -32603, message, data: [info] };
  const problems = Array.isArray(details) ? (details as readonly Partial<FieldProblem>[]) : [];
  const fieldViolations = problems.map((each) => ({
    field: each.path ?? '',
    description: each.message ?? '',
  }));
  const violations = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations };
  return { code: -32602, message, data: [...(fieldViolations.length > 0 ? [violations] : []), info] };
}
