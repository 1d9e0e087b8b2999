import { cut } from '../../shared/cut.js';
import { type ErrorBody, GatewayError, isGatewayError } from '../../shared/errors.js';
import { ToolCallError } from './tool-error.js';

/** Characters of an error message that are kept. */
const MAX_MESSAGE = 2000;

/** An error as JSON. The gateway's own errors keep their kind; others become plain errors. */
export type StepFailure =
  | { readonly kind: 'gateway'; readonly body: ErrorBody }
  | {
      readonly kind: 'tool';
      readonly call: { readonly callId: string; readonly toolName: string; readonly denied: boolean };
      readonly message: string;
    }
  | {
      readonly kind: 'other';
      readonly name: string;
      readonly message: string;
      readonly code?: string | number;
    };

/** Describes any thrown value. */
export function failureOf(error: unknown): StepFailure {
  try {
    if (isGatewayError(error)) {
      const { details: _large, ...body } = error.toJSON();
      return { kind: 'gateway', body: { ...body, message: short(body.message) } };
    }
    if (error instanceof ToolCallError) {
      const { callId, toolName, denied, message } = error;
      return { kind: 'tool', call: { callId, toolName, denied }, message: short(message) };
    }
    if (!(error instanceof Error)) return { kind: 'other', name: 'Error', message: short(String(error)) };
    const { name, message, code } = error as Error & { readonly code?: unknown };
    const coded = typeof code === 'number' || typeof code === 'string' ? { code } : {};
    return { kind: 'other', name: short(String(name)), message: short(String(message)), ...coded };
  } catch {
    // A thrown value may throw again when its fields are read.
    return { kind: 'other', name: 'Error', message: 'The step failed' };
  }
}

/** The words of a failure. */
export const wordsOf = (failure: StepFailure): string =>
  failure.kind === 'gateway' ? failure.body.message : failure.message;

/** A failure in other words. */
export const saying = (failure: StepFailure, message: string): StepFailure =>
  failure.kind === 'gateway' ? { ...failure, body: { ...failure.body, message } } : { ...failure, message };

/** The error of a description, without its original stack and cause. */
export function toError(failure: StepFailure): Error {
  if (failure.kind === 'gateway') return GatewayError.fromJSON(failure.body);
  if (failure.kind === 'tool') return new ToolCallError(failure.call, failure.message);
  const { name, message, code } = failure;
  const error = new Error(message);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  return code === undefined ? error : Object.assign(error, { code });
}

const short = (text: string): string => cut(text, MAX_MESSAGE);
