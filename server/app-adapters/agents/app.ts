import type { Agent, AgentInputItem, Runner, StreamedRunResult } from '@openai/agents';
import type { AppEvent, Application, AppResult, OnDisconnect, Turn } from '../../apps/application.js';
import { type App, defineApp } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { closeOpenCalls, withoutReasoning } from '../../chat-format/rounds.js';
import { channels } from '../../diagnostics/channels.js';
import { carryingTrace } from '../carried-trace.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { decide } from './approvals.js';
import { forCaller } from './caller.js';
import { toAgentItems } from './items.js';
import { RunReader } from './reader.js';
import { isModelMistake, loadSdk, runFailure } from './sdk.js';
import { AgentTools } from './sub-agents.js';
import { ToldModels } from './told-models.js';

type AnyAgent = Agent<any, any>;

/** Options of an app that answers with agents. */
export interface AgentsOptions<Tools extends ToolSet = ToolSet> {
  /** The agent that answers, or a function that chooses one for each turn. */
  readonly agent: AnyAgent | ((turn: Turn) => AnyAgent | Promise<AnyAgent>);
  readonly description?: string;
  /** Tools of the gateway, which the agent has besides its own. */
  readonly tools?: Tools;
  readonly onDisconnect?: OnDisconnect;
  /** Runs the agents, for example with your own model provider or tracing. @default the SDK's own */
  readonly runner?: Runner;
  /** Makes the `context` of tools and instructions. @default `{ turn }` */
  readonly context?: (turn: Turn) => unknown;
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
  const { description, tools, onDisconnect } = options;
  const app: Application<Tools> = {
    ...(description !== undefined && { description }),
    ...(tools !== undefined && { tools }),
    ...(onDisconnect !== undefined && { onDisconnect }),
    run: (turn) => run(turn as Turn, options),
  };
  return defineApp(app);
}

async function* run(turn: Turn, options: AgentsOptions<any>): AsyncGenerator<AppEvent, AppResult> {
  const sdk = await loadSdk();
  const { tools = {}, maxTurns, context = (of: Turn) => ({ turn: of }) } = options;
  const chosen = typeof options.agent === 'function' ? await options.agent(turn) : options.agent;
  const agent = forCaller(sdk, chosen, turn, tools);
  const loggedElsewhere = new Set([...Object.keys(tools), ...turn.clientTools.map(({ name }) => name)]);
  const reader = new RunReader({ loggedElsewhere, usage: (counts) => turn.usage(counts) });
  const subAgents = new AgentTools(turn, { loggedElsewhere });
  const runOptions = {
    stream: true as const,
    signal: turn.signal,
    context: context(turn),
    ...(maxTurns !== undefined && { maxTurns }),
  };
  const { runner = sdk } = options;
  const models = channels.model.hasSubscribers ? new ToldModels(turn) : null;
  const filter = models?.filter(options.runner?.config.callModelInputFilter);
  const conversation = await withFiles(turn, conversationOf(turn));
  const items = toAgentItems(closeOpenCalls(conversation.map(withoutReasoning)));
  let input: Parameters<Runner['run']>[1] = [...(options.input?.(items, turn) ?? items)];
  for (;;) {
    let stream!: StreamedRunResult<any, AnyAgent>;
    const start = async () => {
      stream = await runner.run(agent, input, {
        ...runOptions,
        ...(filter && { callModelInputFilter: filter }),
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
    await Promise.all(stream.interruptions.map((item) => decide(stream, item, { turn, reader })));
    input = stream.state;
  }
}
