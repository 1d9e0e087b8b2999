import { madeOutput } from '../apps/tool-output.js';
import type { FormerResult } from './resumption.js';
import { ToolCallError } from './tool-error.js';

/** The result that a call had in a former process. @throws ToolCallError if it failed then */
export function formerResult({ callId, output, isError, denied }: FormerResult, toolName: string): unknown {
  if (isError) throw new ToolCallError({ callId, toolName, denied }, String(output));
  // The caller was given the structured content of what `toolResult` made.
  const structured = madeOutput(output)?.structured;
  return structured === undefined ? output : structured;
}
