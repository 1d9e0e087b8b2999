import { jsonText } from '../schema/json-text.js';
import { isPlainObject } from '../schema/schema.js';
import type { ToolOutput } from './tool.js';

/** The output of a tool that `toolResult` did not make. Other JSON becomes structured content, plus text for readers that know only text. */
export function plainOutput(result: unknown): ToolOutput {
  if (result === undefined || result === null) return { content: [] };
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] };
  return { content: [{ type: 'text', text: jsonText(result)! }], structured: result };
}

/** The output that `toolResult` made, as the log has it as a whole; null for other values. */
export function madeOutput(logged: unknown): ToolOutput | null {
  if (!isPlainObject(logged)) return null;
  const { content, structured: _, ...rest } = logged;
  const areBlocks = Array.isArray(content) && content.every((it) => typeof it?.type === 'string');
  return areBlocks && Object.keys(rest).length === 0 ? (logged as unknown as ToolOutput) : null;
}
