import type { ToolSet as AiToolSet, LanguageModel, ModelMessage, TextStreamPart } from 'ai';
import { GatewayError } from '../../../shared/errors.js';
import type { AppEvent, Application, AppResult, OnDisconnect, Turn } from '../../apps/application.js';
import type { CompactionOption } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import type { Versioned } from '../../apps/versions.js';
import { channels } from '../../diagnostics/channels.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { upstreamFailed } from '../upstream-failed.js';
import { answerApprovals } from './approvals.js';
import { ModelSteps } from './durable-model.js';
import { durableTools } from './durable-tools.js';
import { NextModel } from './next-model.js';
import {
  type AiSdkAgent,
  type AiSdkRun,
  type AiSdkStream,
  type Durable,
  loadSdk,
  modelOf,
  type StartedRun,
  type StreamTextSettings,
  toRun,
} from './sources.js';
import { StreamReader } from './stream-reader.js';
import { SubAgents } from './sub-agents.js';
import { toModelMessages } from './to-model-messages.js';
import { allowedModel, toldModel } from './told-model.js';
import { clientSideTools, TurnTools } from './turn-tools.js';

/** Options of an AI SDK app besides its source. */
export interface AiSdkAppOptions<Tools extends ToolSet = ToolSet> extends Versioned, CompactionOption {
  readonly description?: string;
  /** Tools of the gateway, made with its `tool`, in addition to the AI SDK's. They have `confirm`, `runsOn`, progress and user. */
  readonly tools?: Tools;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  /** Whether the model sees its reasoning of earlier answers. @default false */
  readonly sendReasoning?: boolean;
  /** Number of times that one run may continue after approvals. @default 20 */
  readonly maxRounds?: number;
  /**
   * Further models. If one fails or breaks off, the next takes up the run at that step; what the failed one has said in it is taken back on every page. Not
   * possible for a function, nor for an agent that does not show its model.
   */
  readonly models?: readonly LanguageModel[];
  /**
   * Whether a run resumes after a restart. Answers of the model, calls of tools and approvals that ended are not repeated; those under way
   * are. Not possible for an agent. A function makes its own model durable.
   *
   * @default false
   */
  readonly resumable?: boolean;
}

/**
 * An app that answers with the AI SDK: `streamText` options, an agent, or a function that returns a stream. Needs the package `ai`.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app: aiSdkApp({ model, system: 'Be brief.', tools: { weather } }) });
 * ```
 */
export function aiSdkApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  source: StreamTextSettings | AiSdkAgent | AiSdkRun,
  options: AiSdkAppOptions<Tools> = {},
): App<Tools> {
  const { tools: ours, sendReasoning = false, maxRounds = 20, models = [], ...about } = options;
  const { resumable = false } = about;
  if (resumable && 'stream' in source) throw notResumable();
  if (models.length > 0 && !modelOf(source)) throw noNextModels();
  const written: AiToolSet = typeof source === 'function' ? {} : (source.tools ?? {});
  const tools = { ...clientSideTools(written), ...ours };
  const start = toRun(source);
  const app: Application = {
    ...about,
    tools,
    run: (turn) =>
      converse(turn, { start, tools, written, sendReasoning, maxRounds, resumable, others: models }),
  };
  // The type has only the gateway's tools, because tools of the AI SDK are not made with `tool`.
  return defineApp(app) as App<Tools>;
}

interface ModelConversation {
  readonly start: StartedRun;
  readonly tools: ToolSet;
  readonly written: AiToolSet;
  readonly sendReasoning: boolean;
  readonly maxRounds: number;
  readonly resumable: boolean;
  readonly others: readonly LanguageModel[];
}

function noNextModels(): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message:
      'aiSdkApp: models takes the options of streamText, or a ToolLoopAgent; a function chooses its own models',
  });
}

function notResumable(): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message:
      'aiSdkApp: an agent keeps its model to itself and cannot be resumable; give the options of streamText, or a function',
  });
}

async function* converse(turn: Turn, given: ModelConversation): AsyncGenerator<string | AppEvent, AppResult> {
  const { resumable, others } = given;
  const next = others.length > 0 ? new NextModel(turn, others, await loadSdk()) : null;
  const models = resumable ? new ModelSteps(turn, await loadSdk()) : null;
  const listened = channels.model.hasSubscribers ? await loadSdk() : null;
  const tools = new TurnTools(turn, given.tools, given.written, models);
  const durable: Durable = {
    model: (given) => {
      const model = next?.model(given) ?? given;
      const asked = allowedModel(turn, listened ? toldModel(turn, model, listened) : model);
      return models?.wrap(asked) ?? asked;
    },
    tools: (all) => (models ? (durableTools(turn, all, models) as typeof all) : all),
  };
  const reader = new StreamReader({
    ...(models && { resumed: turn.resumed, nextAnswer: () => models.next() }),
    isOurs: (name) => tools.has(name),
    isLogged: (toolCallId) => tools.hasBegun(toolCallId),
    usage: turn.usage,
  });
  const subAgents = new SubAgents(turn);
  const aiTools = tools.isEmpty ? {} : tools.toAiTools(await loadSdk());
  const conversation = await withFiles(turn, conversationOf(turn));
  let messages = toModelMessages(conversation, { reasoning: given.sendReasoning });
  for (let round = 1; ; round += 1) {
    const start = () => given.start(turn, messages, aiTools, durable, next);
    let answered: readonly ModelMessage[] | null = null;
    while (!answered) {
      next?.begin(messages);
      try {
        answered = yield* say(turn, reader, subAgents, start, next);
      } catch (error) {
        if (!next) throw error;
        messages = next.after(error, models?.failedBefore);
      } finally {
        reader.broken();
      }
    }
    const approvals = reader.takeApprovals();
    if (approvals.length === 0 || round > given.maxRounds) break;
    const fits = (name: string, input: unknown) => fitsTool(given.written[name], input);
    messages = [
      ...messages,
      ...(await answerApprovals({ turn, reader, durable: resumable, fits }, approvals, answered)),
    ];
  }
  await subAgents.end();
  yield* reader.unmade();
  return { stopReason: reader.stopReason };
}

/** Whether an input fits a tool. The tools of a function are unknown here; its own call checks them. */
async function fitsTool(tool: AiToolSet[string] | undefined, input: unknown): Promise<boolean> {
  if (!tool) return true;
  const { asSchema } = await loadSdk();
  const outcome = await asSchema(tool.inputSchema).validate?.(input);
  return outcome?.success ?? true;
}

/** Yields the content of a stream. Returns its messages if any call in them waits for approval, because the SDK needs them back. */
async function* say(
  turn: Turn,
  reader: StreamReader,
  subAgents: SubAgents,
  start: () => AiSdkStream | PromiseLike<AiSdkStream>,
  next: NextModel | null,
): AsyncGenerator<string | AppEvent, readonly ModelMessage[]> {
  try {
    const stream = await start();
    for await (const part of stream.fullStream as AsyncIterable<TextStreamPart<AiToolSet>>) {
      subAgents.take(part, reader.callOf(part));
      yield* reader.read(part);
      next?.read(part);
      // An agent calls its model by itself.
      if (part.type === 'finish-step') await turn.allowed();
    }
    return reader.awaitsApproval ? (await stream.response).messages : [];
  } catch (error) {
    throw upstreamFailed(error);
  }
}
