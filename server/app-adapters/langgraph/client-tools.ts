import { GatewayError } from '../../../shared/errors.js';
import type { ClientTool, Turn } from '../../apps/application.js';
import { ToolCallError } from '../../runs/tool-error.js';
import type { GraphToolCall, GraphToolMessage } from './graph.js';
import { toToolMessage } from './messages.js';
import { ReadMark } from './reader.js';

/** A tool in the form that `bindTools` of every chat model accepts. */
export interface GraphToolDefinition {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: unknown;
    readonly strict?: boolean;
  };
}

/** The tools that the caller of a run brought along, for a model's `bindTools`. */
export function toolDefinitions(tools: readonly ClientTool[]): GraphToolDefinition[] {
  return tools.map(({ name, description, parameters = { type: 'object', properties: {} }, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters,
      ...(strict !== undefined && { strict }),
    },
  }));
}

/** The part of a node's config that is used here. */
export interface NodeConfig {
  readonly configurable?: Readonly<Record<string, any>>;
  readonly writer?: (chunk: any) => void;
}

/**
 * Calls tools for a node: those that the caller brought along, and the app's. The results are messages for the graph's state. A failed or
 * denied call tells the model so.
 *
 * @param config The config of a node in a graph that `langGraphApp` runs.
 * @throws GatewayError `INVALID_REQUEST` if the graph runs elsewhere
 */
export async function answerToolCalls(
  config: NodeConfig,
  calls: readonly GraphToolCall[],
): Promise<GraphToolMessage[]> {
  const turn: Turn | undefined = config.configurable?.turn;
  if (!turn) {
    const message = 'answerToolCalls needs the config of a node in a graph that langGraphApp runs';
    throw new GatewayError({ code: 'INVALID_REQUEST', message });
  }
  await allRead(config);
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

/** Resolves when all earlier output of the graph is in the log. Calls are logged at once, and must come behind it. */
function allRead({ writer }: NodeConfig): Promise<void> {
  if (!writer) return Promise.resolve();
  return new Promise((resolve) => writer(new ReadMark(resolve)));
}
