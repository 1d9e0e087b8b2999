import { isGatewayError } from '../../shared/errors.js';
import type { Ending } from './ending.js';
import { ToolCallError } from './tool-error.js';

/**
 * The end of a run whose app threw, and the error that only the log gets. A tool's own words may be hidden from some readers, so the end
 * only names the tool.
 */
export function endingOf(thrown: unknown): Ending & { readonly unseen?: { readonly error: unknown } } {
  const unseen = { error: thrown };
  if (isGatewayError(thrown)) {
    const error = { code: String(thrown.code), message: String(thrown.message) };
    return {
      stopReason: 'error',
      error,
      ...(thrown.cause !== undefined && { unseen: { error: thrown.cause } }),
    };
  }
  const call = toolCallError(thrown);
  if (!call) return { stopReason: 'error', error: { code: 'INTERNAL', message: 'The app failed' }, unseen };
  const { toolName, denied } = call;
  // A person's decision is no failure.
  if (denied) return { stopReason: 'end', error: { code: 'DENIED', message: `${toolName} was denied` } };
  const message = `The tool ${toolName} failed`;
  return { stopReason: 'error', error: { code: 'TOOL_FAILED', message }, unseen };
}

function toolCallError(thrown: unknown): ToolCallError | null {
  try {
    return thrown instanceof ToolCallError ? thrown : null;
  } catch {
    // A thrown proxy may throw again.
    return null;
  }
}
