import type { Tool as AiTool, ToolSet as AiToolSet } from 'ai';
import type { ClientTool, Turn } from '../../apps/application.js';
import { type Tool, type ToolSet, tool } from '../../apps/tool.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { offeredTools } from '../offered-tools.js';
import { once } from '../once.js';
import type { ModelSteps } from './durable-model.js';

type ToolSdk = Pick<typeof import('ai'), 'dynamicTool' | 'jsonSchema'>;

const ANY_OBJECT = { type: 'object', additionalProperties: true };

/** The tools of one turn whose calls go through `turn.callTool`. */
export class TurnTools {
  readonly #turn: Turn;
  readonly #written: AiToolSet;
  readonly #offered: readonly ClientTool[];
  readonly #models: ModelSteps | null;
  readonly #begun = new Set<string>();

  /**
   * @param own The app's tools in the gateway's form.
   * @param written The tools that the app's author wrote for the SDK.
   * @param models The steps of the model, if calls are steps.
   */
  constructor(turn: Turn, own: ToolSet, written: AiToolSet, models: ModelSteps | null) {
    this.#turn = turn;
    this.#models = models;
    this.#written = written;
    this.#offered = offeredTools(turn, own, (name) => Object.hasOwn(written, name));
  }

  get isEmpty(): boolean {
    return this.#offered.length === 0;
  }

  has(name: string): boolean {
    return this.#offered.some((offered) => offered.name === name);
  }

  /** Whether `turn.callTool` has begun for a call. */
  hasBegun(toolCallId: string): boolean {
    return this.#begun.has(toolCallId);
  }

  /** The tools in the AI SDK's form. A tool that was written for it changes only in how it is executed. */
  toAiTools({ dynamicTool, jsonSchema }: ToolSdk): AiToolSet {
    return Object.fromEntries(
      this.#offered.map(({ name, description, parameters = ANY_OBJECT, strict }) => {
        const execute = this.#execute(name);
        const written = Object.hasOwn(this.#written, name) ? this.#written[name] : undefined;
        if (written) return [name, { ...written, execute } as AiTool];
        const inputSchema = jsonSchema(parameters as Parameters<ToolSdk['jsonSchema']>[0]);
        const about = {
          ...(description !== undefined && { description }),
          ...(strict !== undefined && { strict }),
        };
        return [name, dynamicTool({ ...about, inputSchema, execute })];
      }),
    );
  }

  #execute(name: string) {
    return async (input: unknown, { toolCallId }: { readonly toolCallId: string }): Promise<unknown> => {
      this.#begun.add(toolCallId);
      try {
        const call = (): Promise<unknown> => this.#turn.callTool(name, input as never);
        if (!this.#models) return await call();
        await this.#models.answered;
        return await once(this.#turn, `tool ${name}`, call);
      } catch (error) {
        // The SDK shows the model the error as a text, from version 7 on with the name of its class.
        throw error instanceof ToolCallError
          ? Object.assign(error, { toString: () => error.message })
          : error;
      }
    };
  }
}

/** Tools of the AI SDK that only the user's client can run. */
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
