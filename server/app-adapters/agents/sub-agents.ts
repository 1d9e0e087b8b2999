import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent, RunStreamEvent } from '@openai/agents';
import type { Turn } from '../../apps/application.js';
import { askedBy, FedChild } from '../fed-child.js';
import { parseJson } from './items.js';
import { type AgentReaderOptions, RunReader } from './reader.js';

type ToolAgent = Agent<any, any>;

/** An event of an agent that is another's tool. */
interface ToolStreamEvent {
  readonly event: RunStreamEvent;
  readonly agent: ToolAgent;
  readonly toolCall?: { readonly callId: string; readonly arguments: string };
}

/** The part of an agent's tool that reports its events. Listeners stay for good. */
interface ReportingTool {
  on?(name: '*', listener: (event: ToolStreamEvent) => void): unknown;
}

interface ToldAgent {
  readonly child: FedChild;
  readonly reader: RunReader;
}

/** The run of this adapter that the SDK works for. Tools belong to agents, which many runs share. */
const present = new AsyncLocalStorage<AgentTools>();
const watched = new WeakSet<object>();

/** Tells the agents that are tools of other agents as child runs, by the ids of their calls. */
export class AgentTools {
  readonly #turn: Turn;
  readonly #loggedElsewhere: AgentReaderOptions['loggedElsewhere'];
  readonly #told = new Map<string, ToldAgent>();
  /** The child run that made a call. */
  readonly #callers = new Map<string, ToldAgent>();

  constructor(turn: Turn, { loggedElsewhere }: Pick<AgentReaderOptions, 'loggedElsewhere'>) {
    this.#turn = turn;
    this.#loggedElsewhere = loggedElsewhere;
  }

  /** Has the SDK work for this run. */
  within<T>(agent: ToolAgent, work: () => T): T {
    watch(agent);
    return present.run(this, work);
  }

  /** Notes an event of the run's own agent, or of a child. */
  note(event: RunStreamEvent, of: ToldAgent | null = null): void {
    if (event.type === 'raw_model_stream_event' && event.data.type === 'response_done') {
      for (const item of event.data.response.output)
        if (of && item.type === 'function_call') this.#callers.set(item.callId, of);
    } else if (event.type === 'run_item_stream_event' && event.name === 'tool_output')
      this.#told.get((event.item.rawItem as { readonly callId?: string }).callId ?? '')?.child.end();
  }

  /** Takes an event of an agent that is a tool. */
  take({ event, agent, toolCall }: ToolStreamEvent): void {
    if (!toolCall) return;
    watch(agent);
    const told = this.#told.get(toolCall.callId) ?? this.#begin(agent, toolCall);
    this.note(event, told);
    for (const item of told.reader.read(event)) told.child.put(item);
  }

  /** Ends all children, and waits until that is stored. */
  async end(): Promise<void> {
    const children = [...this.#told.values()].reverse();
    for (const { child } of children) child.end();
    await Promise.all(children.map(({ child }) => child.over()));
  }

  #begin(
    { name: app }: ToolAgent,
    { callId, arguments: given }: NonNullable<ToolStreamEvent['toolCall']>,
  ): ToldAgent {
    const above = this.#callers.get(callId)?.child.turn ?? this.#turn;
    const child = new FedChild(above, { id: callId, app, message: askedBy(parseJson(given)), callId });
    const usage: AgentReaderOptions['usage'] = (counts) =>
      void child.turn.then((own) => (own ?? this.#turn).usage(counts));
    const told = { child, reader: new RunReader({ loggedElsewhere: this.#loggedElsewhere, usage }) };
    this.#told.set(callId, told);
    return told;
  }
}

/** Listens to the tools of an agent that are agents, and to those of the agents that it may hand over to. */
function watch(agent: ToolAgent, seen = new Set<ToolAgent>()): void {
  if (seen.has(agent)) return;
  seen.add(agent);
  for (const tool of agent.tools as readonly (object & ReportingTool)[]) {
    if (typeof tool.on !== 'function' || watched.has(tool)) continue;
    watched.add(tool);
    tool.on('*', (event) => present.getStore()?.take(event));
  }
  for (const next of agent.handoffs) watch('agent' in next ? next.agent : next, seen);
}
