import type { AppEvent, Application, AppResult, OnDisconnect, Turn } from '../../apps/application.js';
import { ASKS } from '../../apps/check-app.js';
import { type CompactionOption, compactOf } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import { GOES_ON } from '../../apps/goes-on.js';
import type { ToolSet } from '../../apps/tool.js';
import { type Versioned, versionsOf } from '../../apps/versions.js';
import { channels } from '../../diagnostics/channels.js';
import { loadPeer } from '../../runtime/optional-peer.js';
import { carryingTrace } from '../carried-trace.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { CommandClass, CompiledGraph, GraphMessage, GraphMessageMetadata } from './graph.js';
import { answerInterrupts, type ReadInterrupt } from './interrupts.js';
import { GraphReader, type GraphReaderOptions, STREAM_MODES } from './reader.js';
import { Subgraphs } from './subgraphs.js';
import { openThread } from './thread.js';
import { modelListener } from './told-models.js';

/** Options of an app that answers with a graph. */
export interface LangGraphOptions<Tools extends ToolSet = ToolSet> extends Versioned, CompactionOption {
  readonly graph: CompiledGraph;
  readonly description?: string;
  /** Tools of the gateway, which nodes call with `config.configurable.turn.callTool`. */
  readonly tools?: Tools;
  readonly onDisconnect?: OnDisconnect;
  /**
   * Whether runs resume after a restart of the gateway. Needs a checkpointer that survives it.
   *
   * @default whether the graph has one that does not keep its threads in memory
   */
  readonly resumable?: boolean;
  /**
   * Chooses the thread of a graph with a checkpointer.
   *
   * @default one for each conversation, by `turn.session.epoch`, and for each branch of it
   */
  readonly threadId?: (turn: Turn) => string;
  /** Makes the graph's input. @default `{ messages }` */
  readonly input?: (messages: readonly GraphMessage[], turn: Turn) => unknown;
  /** More of the graph's config, such as `recursionLimit`, `context` or `callbacks`. */
  readonly config?: (turn: Turn) => Readonly<Record<string, unknown>>;
  /** Reads interrupts of your own form as confirmations. */
  readonly readInterrupt?: ReadInterrupt;
  /** The `Command` class that resumes the graph, if the app has several copies of LangGraph. @default that of `@langchain/langgraph` */
  readonly Command?: CommandClass;
  /**
   * Whether graphs that run for a tool call are child runs of their own, and not part of the answer.
   *
   * @default true
   */
  readonly children?: boolean;
  /** Whether the output of a node's models and tools is part of the answer. @default all of it */
  readonly show?: (metadata: GraphMessageMetadata) => boolean;
}

/** Codes of LangGraph's own errors, which mean that the graph is wrong, and not a service that it calls. */
const GRAPH_ERRORS = new Set([
  'GRAPH_RECURSION_LIMIT',
  'INVALID_CONCURRENT_GRAPH_UPDATE',
  'INVALID_GRAPH_NODE_RETURN_VALUE',
  'MISSING_CHECKPOINTER',
  'MULTIPLE_SUBGRAPHS',
  'UNREACHABLE_NODE',
]);

/**
 * An app that answers with a compiled graph of LangGraph. The graph reaches the turn as `config.configurable.turn`.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app: langGraphApp({ graph }) });
 * ```
 */
export function langGraphApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: LangGraphOptions<Tools>,
): App<Tools> {
  const { graph, description, tools, onDisconnect, resumable = outlives(graph) } = options;
  const app: Application<Tools> = {
    ...(description !== undefined && { description }),
    ...(tools !== undefined && { tools }),
    ...(onDisconnect !== undefined && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    ...compactOf(options),
    ...(graph.checkpointer ? { [GOES_ON]: true, [ASKS]: true } : {}),
    run: (turn) => run(turn as Turn, options),
  } as Application<Tools>;
  return defineApp(app);
}

/** Whether the threads of a graph outlive the process. */
const outlives = ({ checkpointer }: CompiledGraph): boolean =>
  typeof checkpointer === 'object' &&
  checkpointer !== null &&
  !/^(?:In)?Memory/.test(checkpointer.constructor.name);

async function* run(
  turn: Turn,
  options: LangGraphOptions<any>,
): AsyncGenerator<AppEvent, AppResult | undefined> {
  const { graph, children = true } = options;
  let used: Promise<void> | null = null;
  const reading: Omit<GraphReaderOptions, 'usage'> = {
    loggedElsewhere: new Set([
      ...Object.keys(options.tools ?? {}),
      ...turn.clientTools.map(({ name }) => name),
    ]),
    show: options.show ?? (() => true),
  };
  const reader = new GraphReader({
    ...reading,
    usage: (counts) => {
      used = turn.usage(counts);
    },
  });
  const configOf = (threadId: string) => graphConfig(turn, options, reader, threadId);
  const thread = await guarded(() => openThread(options, configOf, turn));
  const { config } = thread;
  reader.knows(thread.known);
  if (turn.rehearsing) return await rehearseGraph(turn, options, config);
  const subgraphs = new Subgraphs(turn, reader, (child) => {
    const inner = new GraphReader({
      ...reading,
      usage: (counts) => {
        used = child.then((own) => (own ?? turn).usage(counts));
      },
    });
    inner.knows(thread.known);
    return inner;
  });
  let input: unknown = thread.goesOn
    ? null
    : (options.input?.(thread.messages, turn) ?? { messages: thread.messages });
  for (;;) {
    try {
      for await (const [namespace, mode, payload] of carryingTrace(turn, () => graph.stream(input, config))) {
        yield* subgraphs.read(children ? namespace : [], mode, payload);
        // The next call of a model waits until the run may make it.
        if (used) await used;
        used = null;
      }
    } catch (error) {
      throw failure(error);
    }
    yield* reader.end();
    const interrupts = reader.takeInterrupts();
    if (interrupts.length === 0) {
      await subgraphs.end();
      return yield* reader.result();
    }
    await subgraphs.said();
    if (interrupts.every((one) => !('value' in one))) {
      const { next = [] } = (await guarded(() => graph.getState?.(config))) ?? {};
      if (!(await turn.confirm({ name: 'breakpoint', input: { next } })).approved) return undefined;
      input = null;
      continue;
    }
    // Load it before anybody is asked: without it no answer would reach the graph.
    const Command = options.Command ?? (await loadCommand());
    const callId = (name: string, called: unknown): string | undefined => reader.openCall(name, called);
    const resume = await answerInterrupts(interrupts, { turn, read: options.readInterrupt, callId });
    if (resume === null) return undefined;
    input = new Command({ resume: resume.value });
  }
}

/** Comes to where the thread of a graph is, without calling the graph: what waits there is asked, and its next nodes must be there. */
async function rehearseGraph(
  turn: Turn,
  { graph, readInterrupt }: LangGraphOptions<any>,
  config: unknown,
): Promise<undefined> {
  const { next = [], tasks = [] } = (await guarded(() => graph.getState?.(config))) ?? {};
  const { nodes } = graph;
  const gone = next.find((node) => nodes && !Object.hasOwn(nodes, node));
  if (gone !== undefined) await turn.step(`node ${gone}`, () => {});
  const interrupts = tasks.flatMap(({ interrupts: open = [] }) => open);
  if (interrupts.length > 0)
    await answerInterrupts(interrupts, { turn, read: readInterrupt, callId: () => undefined });
  else if (next.length > 0) await turn.confirm({ name: 'breakpoint', input: { next } });
  return undefined;
}

/** LangGraph accepts a command of any copy by its class name, but not a plain object. */
const loadCommand = async (): Promise<CommandClass> =>
  (await loadPeer('@langchain/langgraph', 'langGraphApp', () => import('@langchain/langgraph'))).Command;

function graphConfig(
  turn: Turn,
  { graph, config }: LangGraphOptions<any>,
  reader: GraphReader,
  threadId: string,
) {
  const own = config?.(turn) ?? {};
  return {
    ...own,
    streamMode: STREAM_MODES,
    subgraphs: true,
    signal: turn.signal,
    // A finished callback manager can't be extended. It is the host's choice then.
    ...(Array.isArray(own.callbacks ?? []) && {
      callbacks: [
        ...((own.callbacks ?? []) as unknown[]),
        stopListener(reader),
        ...(channels.model.hasSubscribers ? [modelListener(turn)] : []),
      ],
    }),
    configurable: {
      ...(own.configurable as object | undefined),
      turn,
      ...(graph.checkpointer ? { thread_id: threadId } : {}),
    },
  };
}

/** Some integrations report only to callbacks why a model stopped. */
function stopListener(reader: GraphReader) {
  return {
    name: 'agent-session-gateway',
    awaitHandlers: true,
    handleLLMEnd({ generations }: { generations?: { generationInfo?: { finish_reason?: unknown } }[][] }) {
      reader.stopped(generations?.[0]?.[0]?.generationInfo?.finish_reason);
    },
  };
}

async function guarded<T>(call: () => Promise<T> | T): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw failure(error);
  }
}

function failure(error: unknown): unknown {
  const { lc_error_code: code } = (error ?? {}) as { lc_error_code?: string };
  return code !== undefined && GRAPH_ERRORS.has(code) ? error : upstreamFailed(error);
}
