import type { AppEvent, AppResult, OnDisconnect, Turn } from '../apps/application.js';
import { type CompactionOption, compactOf } from '../apps/compaction.js';
import { type App, defineApp } from '../apps/define-app.js';
import type { ToolSet } from '../apps/tool.js';
import { type Versioned, versionsOf } from '../apps/versions.js';

/** Options of an app that asks one endpoint of models. */
export interface ModelAppOptions<Tools extends ToolSet = ToolSet> extends Versioned, CompactionOption {
  readonly model: string;
  /** Further models of the endpoint. Each is asked anew if the one before fails or breaks off; what that one has said is taken back on every page. */
  readonly models?: readonly string[];
  /** @default `Answers with …`, with the model's name */
  readonly description?: string;
  /** The system message, before all others. */
  readonly instructions?: string | ((turn: Turn<Tools>) => string | Promise<string>);
  /** Tools offered to the model, along with those of the turn's caller. */
  readonly tools?: Tools;
  /** Further fields of each request, such as `temperature`. Callers may override the sampling ones. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Most requests to the model in one run. Each round of tool calls takes one. @default 20 */
  readonly maxSteps?: number;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  /**
   * Whether a run resumes after a restart, with its open confirmations. Answers of the model and calls of tools that ended are not
   * repeated; those under way are.
   *
   * @default false
   */
  readonly resumable?: boolean;
}

/** An app that asks models with a client. @param connect Makes the client, once. */
export function modelApp<Tools extends ToolSet, Client>(
  options: ModelAppOptions<Tools>,
  connect: () => Promise<Client>,
  converse: (turn: Turn, client: Client) => AsyncGenerator<string | AppEvent, AppResult>,
): App<Tools> {
  const { description = `Answers with ${options.model}`, tools, onDisconnect, resumable } = options;
  let client: Promise<Client> | undefined;
  return defineApp<Tools>({
    description,
    ...(tools && { tools }),
    ...(onDisconnect && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    ...compactOf(options),
    async *run(turn) {
      client ??= connect();
      return yield* converse(turn as Turn, await client);
    },
  });
}

/** The instructions for a turn. */
export async function instructionsOf<Tools extends ToolSet>(
  { instructions }: Pick<ModelAppOptions<Tools>, 'instructions'>,
  turn: Turn,
): Promise<string | undefined> {
  return typeof instructions === 'function' ? instructions(turn as Turn<Tools>) : instructions;
}
