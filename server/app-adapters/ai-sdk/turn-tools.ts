import type { Tool as AiTool, ToolSet as AiToolSet } from 'ai';
import type { Turn } from '../../apps/application.js';
import { type Tool, type ToolSet, tool } from '../../apps/tool.js';
import { toJsonSchema } from '../../schema/json-schema.js';

type Sdk = Pick<typeof import('ai'), 'dynamicTool' | 'jsonSchema'>;

/** The tools of one turn whose calls go through `turn.callTool`. */
export class TurnTools {
  readonly #turn: Turn;
  readonly #own: ToolSet;
  readonly #begun = new Set<string>();

  /** @param own The app's tools, as the gateway knows them. */
  constructor(turn: Turn, own: ToolSet) {
    this.#turn = turn;
    this.#own = own;
  }

  /** Whether calls of a tool go through `turn.callTool`. */
  has(name: string): boolean {
    return Object.hasOwn(this.#own, name) || this.#turn.clientTools.some((given) => given.name === name);
  }

  /** Whether `turn.callTool` was entered for a call. */
  hasBegun(toolCallId: string): boolean {
    return this.#begun.has(toolCallId);
  }

  get isEmpty(): boolean {
    return Object.keys(this.#own).length === 0 && this.#turn.clientTools.length === 0;
  }

  /**
   * The tools as the AI SDK knows them.
   *
   * @param known Those that the app's author wrote for the SDK; one without `execute` is answered by the user's client.
   */
  toAiTools({ dynamicTool, jsonSchema }: Sdk, known: AiToolSet = {}): AiToolSet {
    const described: [string, { description?: string | undefined; schema: unknown }][] = [
      ...Object.entries(this.#own).map(([name, { description, schema }]): (typeof described)[number] => [
        name,
        { description, schema: schema && toJsonSchema(schema, 'input').schema },
      ]),
      ...this.#turn.clientTools.map(({ name, description, parameters }): (typeof described)[number] => [
        name,
        { description, schema: parameters },
      ]),
    ];
    return Object.fromEntries(
      described.map(([name, { description, schema }]) => {
        const execute = this.#execute(name);
        const written = Object.hasOwn(known, name) ? known[name] : undefined;
        if (written) return [name, { ...written, execute } as AiTool];
        const inputSchema = jsonSchema((schema ?? ANY_OBJECT) as Parameters<Sdk['jsonSchema']>[0]);
        return [
          name,
          dynamicTool({ ...(description !== undefined && { description }), inputSchema, execute }),
        ];
      }),
    );
  }

  #execute(name: string) {
    return (input: unknown, { toolCallId }: { readonly toolCallId: string }): Promise<unknown> => {
      this.#begun.add(toolCallId);
      return this.#turn.callTool(name, input as never);
    };
  }
}

const ANY_OBJECT = { type: 'object', additionalProperties: true };

/** Those tools of the AI SDK that have nobody to run them but the user's client. */
export function clientSideTools(tools: AiToolSet = {}): Record<string, Tool<any, any>> {
  return Object.fromEntries(
    Object.entries(tools)
      .filter(([, { execute, type }]) => !execute && type !== 'provider')
      .map(([name, { description }]) => [
        name,
        tool({ runsOn: 'client', ...(description !== undefined && { description }) }),
      ]),
  );
}
