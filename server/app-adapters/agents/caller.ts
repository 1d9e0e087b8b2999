import type { Agent, ModelSettings, Tool } from '@openai/agents';
import type { Turn } from '../../apps/application.js';
import type { ToolSet } from '../../apps/tool.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { toJsonSchema } from '../../schema/json-schema.js';
import type { Sdk } from './sdk.js';

interface OfferedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: unknown;
  readonly strict?: boolean | undefined;
}

/** The agent with additions for this run: the app's tools, the caller's tools and the caller's parameters. */
export function forCaller<A extends Agent<any, any>>(sdk: Sdk, agent: A, turn: Turn, own: ToolSet): A {
  const offered = [
    ...Object.entries(own).map(([name, { description, schema }]) => ({
      name,
      description,
      schema: schema && toJsonSchema(schema, 'input').schema,
    })),
    ...turn.clientTools.map(({ name, description, parameters, strict }) => ({
      name,
      description,
      schema: parameters,
      strict,
    })),
  ];
  const settings = settingsOf(turn.parameters);
  if (offered.length === 0 && Object.keys(settings).length === 0) return agent;
  const tools = [...agent.tools, ...offered.map((one) => toTool(sdk, turn, one))];
  return agent.clone({ tools, modelSettings: { ...agent.modelSettings, ...settings } }) as A;
}

function toTool(sdk: Sdk, turn: Turn, { name, description = '', schema, strict = false }: OfferedTool): Tool {
  return sdk.tool({
    name,
    description,
    // The turn checks the input if the app has a schema.
    strict: strict as false,
    // A copy loses zod's hidden mark, by which the SDK would treat it as its own kind of schema.
    parameters: {
      ...((schema as object) ?? { type: 'object', properties: {}, additionalProperties: true }),
    } as any,
    execute: async (input: unknown) => {
      try {
        return (await turn.callTool(name, input)) ?? null;
      } catch (error) {
        if (error instanceof ToolCallError) return error.message;
        throw error;
      }
    },
  });
}

/** The parameters of a caller that the SDK has settings for. Others are left out. */
function settingsOf(parameters: Turn['parameters']): Partial<ModelSettings> {
  const {
    temperature,
    top_p: topP,
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    max_completion_tokens: maxCompletion,
    max_tokens: max,
    parallel_tool_calls: parallelToolCalls,
  } = parameters;
  const maxTokens = maxCompletion ?? max;
  const numbers = { temperature, topP, frequencyPenalty, presencePenalty, maxTokens };
  return {
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => typeof value === 'number')),
    ...(typeof parallelToolCalls === 'boolean' && { parallelToolCalls }),
  };
}
