import type { ToolOutput } from '../apps/tool.js';
import type { FormerResult } from './resumption.js';
import { ToolCallError } from './tool-error.js';

/** The result that a call had in a former process. @throws ToolCallError if it failed then */
export function formerResult({ callId, output, isError, denied }: FormerResult, toolName: string): unknown {
  if (isError) throw new ToolCallError({ callId, toolName, denied }, String(output));
  // The log has what `toolResult` made as a whole, and the caller was given its structured content.
  const { content, structured, ...rest } = (output ?? {}) as Partial<ToolOutput>;
  const isMade = Array.isArray(content) && structured !== undefined && Object.keys(rest).length === 0;
  return isMade ? structured : output;
}
