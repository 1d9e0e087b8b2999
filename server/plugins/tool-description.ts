import type { Application } from '../apps/application.js';
import type { Tool } from '../apps/tool.js';
import { toJsonSchema } from '../schema/json-schema.js';
import type { ToolDescription } from './plugin.js';

/** Lists the tools of an app for other protocols. */
export function describeTools({ tools = {} }: Application): ToolDescription[] {
  return Object.entries(tools as Readonly<Record<string, Tool<unknown, unknown>>>).map(
    ([name, { description, title, hints, schema }]) => {
      const converted = schema && toJsonSchema(schema, 'input');
      return {
        name,
        ...(description !== undefined && { description }),
        ...(title !== undefined && { title }),
        ...(hints && { hints }),
        ...(converted?.schema && { inputSchema: converted.schema }),
        ...(converted?.problem !== undefined && { problem: converted.problem }),
      };
    },
  );
}
