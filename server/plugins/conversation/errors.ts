import type { ServerResponse } from 'node:http';
import type { z } from 'zod';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { beginError, saidOf, sendBody } from './answering.js';

/** Header with the code of an error, whose body is the text that the user is shown. */
export const ERROR_HEADER = 'x-error-code';

/** A problem with one field of a request. `code` is a vendor's. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
}

/** Makes an error about a field of a request, or of the options. */
export function fieldError(path: string, message: string, code?: string): GatewayError {
  const problem: FieldProblem = { path, message, ...(code !== undefined && { code }) };
  return new GatewayError({ code: 'INVALID_REQUEST', message: `${path}: ${message}`, details: [problem] });
}

/** A door's names for the fields that it passes on, by the gateway's own. An empty one is the caller's body itself. */
export type CallerTerms = Readonly<
  Partial<
    Record<
      'sessionId' | 'message' | 'messages' | 'clientTools' | 'parameters' | 'metadata' | 'idempotencyKey',
      string
    >
  >
>;

/** An error about a field that the caller has under another name, in the caller's words. */
export function inTerms(terms: CallerTerms, error: GatewayError): GatewayError {
  const { code, details, requestId } = error;
  const [problem] = Array.isArray(details) ? (details as readonly Partial<FieldProblem>[]) : [];
  const [root = '', ...below] = problem?.path?.split('.') ?? [];
  // Other errors of the door itself name the caller's fields already.
  if (code !== 'INVALID_PARAMS' && root !== 'sessionId') return error;
  const term = Object.hasOwn(terms, root) ? terms[root as keyof CallerTerms] : undefined;
  if (term === undefined || !problem) return error;
  const path = term === '' ? below.join('.') : term;
  const message = `${path}: ${problem.message}`;
  return new GatewayError({
    code,
    message,
    details: [{ ...problem, path }],
    ...(requestId !== undefined && { requestId }),
  });
}

/** Reads a value by its schema. @param above The path of the value itself. @throws GatewayError `INVALID_REQUEST`, naming the field */
export function read<Schema extends z.ZodType>(schema: Schema, value: unknown, above = ''): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw fieldError([...(above === '' ? [] : [above]), ...path].join('.') || 'body', message);
}

/** Answers with an error as a plain sentence, which interfaces show as it is. A response that has begun is cut. */
export function sendUiError(error: GatewayError, response: ServerResponse): void {
  const status = beginError(error, response);
  if (status === null) return;
  const headers = { [ERROR_HEADER]: String(error.code) };
  sendBody(response, 'text/plain', saidOf(error), { status, headers });
}

/** The code of an error of the gateway. */
export function codeOf(error: unknown): string | undefined {
  return isGatewayError(error) ? error.code : undefined;
}

const MISSING = new Set(['SESSION_NOT_FOUND', 'RUN_NOT_FOUND', 'APP_NOT_FOUND', 'INVALID_REQUEST']);

/** The result of a search; null if the caller's scope has no such thing, or the name is malformed. */
export async function orNull<T>(find: () => Promise<T>): Promise<T | null> {
  try {
    return await find();
  } catch (error) {
    if (isGatewayError(error) && (MISSING.has(error.code) || error.code === 'INVALID_PARAMS')) return null;
    throw error;
  }
}
