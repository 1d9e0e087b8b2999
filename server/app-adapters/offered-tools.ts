import type { ClientTool, Turn } from '../apps/application.js';
import type { ToolSet } from '../apps/tool.js';
import { toJsonSchema } from '../schema/json-schema.js';

/**
 * The tools that a model may call through `turn.callTool`: the app's own, and those of the turn's caller.
 *
 * @param taken Whether a name belongs to a tool of the app that the gateway does not know. A caller's tool must not replace it.
 */
export function offeredTools(
  turn: Pick<Turn, 'clientTools'>,
  own: ToolSet,
  taken: (name: string) => boolean = () => false,
): ClientTool[] {
  const ours = Object.entries(own).map(([name, { description, schema }]): ClientTool => {
    const parameters = schema && toJsonSchema(schema, 'input').schema;
    return {
      name,
      ...(description !== undefined && { description }),
      ...(parameters && { parameters }),
    };
  });
  const brought = turn.clientTools.filter(({ name }) => !Object.hasOwn(own, name) && !taken(name));
  return [...ours, ...brought];
}
