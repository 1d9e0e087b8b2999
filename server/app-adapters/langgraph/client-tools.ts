import type { ClientTool, Turn } from '../../apps/application.js';
import { ToolCallError } from '../../runs/tool-error.js';
import type { GraphToolCall, GraphToolMessage } from './graph.js';
import { toToolMessage } from './messages.js';

/** A tool in the form that `bindTools` of every chat model takes. */
export interface GraphToolDefinition {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: unknown;
  };
}

/** The tools that the caller of a run brought along, for a model's `bindTools`. */
export function toolDefinitions(tools: readonly ClientTool[]): GraphToolDefinition[] {
  return tools.map(({ name, description, parameters = { type: 'object', properties: {} } }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  }));
}

/**
 * Calls tools of the gateway for a node: those the caller brought along, and the app's. The results are messages for the graph's
 * state; one that failed or was denied says so to the model.
 */
export async function answerToolCalls(
  turn: Turn,
  calls: readonly GraphToolCall[],
): Promise<GraphToolMessage[]> {
  // What the model said before its calls is still on its way to the log, where it comes first.
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.all(
    calls.map(async ({ id: callId = '', name, args }) => {
      try {
        return toToolMessage({ callId, name, output: await turn.callTool(name, args), isError: false });
      } catch (error) {
        if (!(error instanceof ToolCallError)) throw error;
        return toToolMessage({ callId, name, output: error.message, isError: true });
      }
    }),
  );
}
