import type { Agent, AgentInputItem, CallModelInputFilter, Runner, StreamedRunResult } from '@openai/agents';
import type { AppEvent, Application, AppResult, OnDisconnect, Turn } from '../../apps/application.js';
import { ASKS } from '../../apps/check-app.js';
import { type CompactionOption, compactOf } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import { GOES_ON } from '../../apps/goes-on.js';
import type { ToolSet } from '../../apps/tool.js';
import { type Versioned, versionsOf } from '../../apps/versions.js';
import { closeOpenCalls, withoutReasoning } from '../../chat-format/rounds.js';
import { channels } from '../../diagnostics/channels.js';
import { carryingTrace } from '../carried-trace.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { decide, type Interrupted } from './approvals.js';
import { forCaller } from './caller.js';
import { toAgentItems } from './items.js';
import { keepState, keptState, noteWork } from './kept-state.js';
import { fallingAgent, type NamedModel } from './next-model.js';
import { RunReader } from './reader.js';
import { isModelMistake, loadSdk, runFailure } from './sdk.js';
import { AgentTools } from './sub-agents.js';
import { ToldModels } from './told-models.js';

type AnyAgent = Agent<any, any>;

/** Options of an app that answers with agents. */
export interface AgentsOptions<Tools extends ToolSet = ToolSet> extends Versioned, CompactionOption {
  /** The agent that answers, or a function that chooses one for each turn. */
  readonly agent: AnyAgent | ((turn: Turn) => AnyAgent | Promise<AnyAgent>);
  readonly description?: string;
  /** Tools of the gateway, which the agent has besides its own. */
  readonly tools?: Tools;
  readonly onDisconnect?: OnDisconnect;
  /**
   * Whether a run goes on after a restart of the gateway: from the last approval that it waited for, or from its beginning. A run in which a tool of the
   * SDK was at work since then ends with an error, because nobody knows what the tool did.
   *
   * @default true
   */
  readonly resumable?: boolean;
  /** Runs the agents, for example with your own model provider or tracing. @default the SDK's own */
  readonly runner?: Runner;
  /** Makes the `context` of tools and instructions. @default `{ turn }` */
  readonly context?: (turn: Turn) => unknown;
  /**
   * Further models of that agent, or their names with the runner's provider. Each is asked anew if the one before fails or breaks off; what that one has said
   * is taken back on every page. Agents that it hands over to have their own.
   */
  readonly models?: readonly NamedModel[];
  /** Most calls of the model in one run, all agents together. @default the SDK's, 10 */
  readonly maxTurns?: number;
  /** Makes the input of the run from the items of the conversation. @default the items unchanged */
  readonly input?: (items: readonly AgentInputItem[], turn: Turn) => readonly AgentInputItem[];
}

/**
 * An app that answers with an agent of the OpenAI Agents SDK. Needs the package `@openai/agents`.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app: agentsApp({ agent }) });
 * ```
 */
export function agentsApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: AgentsOptions<Tools>,
): App<Tools> {
  const { description, tools, onDisconnect, resumable = true } = options;
  const app: Application<Tools> = {
    ...(description !== undefined && { description }),
    ...(tools !== undefined && { tools }),
    ...(onDisconnect !== undefined && { onDisconnect }),
    [ASKS]: true,
    ...versionsOf(options),
    ...compactOf(options),
    ...(resumable && { resumable, [GOES_ON]: true }),
    run: (turn) => run(turn as Turn, options),
  } as Application<Tools>;
  return defineApp(app);
}

/** The context that tools are given. A run's state is stored with its context, which would have all of the turn in it. */
const ofTurn = (turn: Turn): { readonly turn: Turn } =>
  Object.defineProperty({} as { turn: Turn }, 'turn', { value: turn });

async function* run(turn: Turn, options: AgentsOptions<any>): AsyncGenerator<AppEvent, AppResult> {
  const sdk = await loadSdk();
  const { tools = {}, maxTurns, context = ofTurn, models: others = [] } = options;
  const chosen = typeof options.agent === 'function' ? await options.agent(turn) : options.agent;
  const called = forCaller(sdk, chosen, turn, tools);
  const agent =
    others.length > 0
      ? fallingAgent(called, turn, others, (options.runner ?? new sdk.Runner()).config)
      : called;
  const loggedElsewhere = new Set([...Object.keys(tools), ...turn.clientTools.map(({ name }) => name)]);
  const reader = new RunReader({ loggedElsewhere, usage: (counts) => void turn.usage(counts) });
  const subAgents = new AgentTools(turn, { loggedElsewhere });
  const given = context(turn);
  const runOptions = {
    stream: true as const,
    signal: turn.signal,
    context: given,
    ...(maxTurns !== undefined && { maxTurns }),
  };
  const { runner = sdk } = options;
  const models = channels.model.hasSubscribers ? new ToldModels(turn) : null;
  const own = options.runner?.config.callModelInputFilter;
  const told = models?.filter(own) ?? own;
  const filter: CallModelInputFilter<any> = async (asked) => {
    await turn.allowed();
    return told ? told(asked) : asked.modelData;
  };
  const conversation = await withFiles(turn, conversationOf(turn));
  const items = toAgentItems(closeOpenCalls(conversation.map(withoutReasoning)));
  let input: Parameters<Runner['run']>[1] = [...(options.input?.(items, turn) ?? items)];
  const approve = async ({ state, newItems, interruptions }: Interrupted): Promise<void> => {
    const waiting = { state, newItems, interruptions };
    const made = await Promise.all(interruptions.map((item) => decide(waiting, item, { turn, reader })));
    if (made.includes(true)) await noteWork(turn);
    input = state;
  };
  const kept = await keptState(sdk, turn, { agent, context: given, loggedElsewhere });
  if (kept) await approve(kept);
  // The agents' work from here on is more than a rehearsal may do.
  if (turn.rehearsing) return reader.result;
  for (;;) {
    let stream!: StreamedRunResult<any, AnyAgent>;
    const start = async () => {
      stream = await runner.run(agent, input, {
        ...runOptions,
        callModelInputFilter: filter,
      });
      return stream;
    };
    try {
      for await (const event of carryingTrace(turn, () => subAgents.within(agent, start))) {
        models?.read(event);
        subAgents.note(event);
        yield* reader.read(event);
      }
    } catch (error) {
      models?.failed(error);
      // Newer versions of the SDK treat a truncated answer as a mistake of the model.
      if (reader.isTruncated && isModelMistake(error)) return reader.result;
      throw runFailure(error);
    }
    if (stream.interruptions.length === 0) {
      await subAgents.end();
      return reader.result;
    }
    await keepState(turn, stream.state);
    await approve(stream);
  }
}
