import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import { ASKS } from '../../apps/check-app.js';
import { type App, defineApp } from '../../apps/define-app.js';
import { versionsOf } from '../../apps/versions.js';
import { AgentFetch } from '../agent-fetch.js';
import { type AgentBounds, addressOf, replyBoundsOf, type ServedAgentOptions } from '../agent-options.js';
import { withFiles } from '../inline-files.js';
import { streamedStep } from '../streamed-step.js';
import { upstreamFailed } from '../upstream-failed.js';
import { AgentTask, type TaskAnswered } from './agent-task.js';
import { toParts } from './parts.js';
import { askPerson } from './questions.js';
import type { TaskPlace } from './reader.js';
import { type A2aSdk, type AgentCard, cardOf, clientOf, loadSdk } from './sdk.js';

/** Options of an app that answers with an agent of A2A. */
export interface A2aAppOptions extends ServedAgentOptions {
  /** Path of the agent's card. @default '/.well-known/agent-card.json' */
  readonly cardPath?: string;
  /** Further origins at which the card may say that the agent is, such as `https://agents.example.com`. @default only that of `url` */
  readonly origins?: readonly string[];
  /** Most messages to the agent in one run. Each answer to a question takes one. @default 20 */
  readonly maxRounds?: number;
}

interface A2aPlace {
  readonly origins: ReadonlySet<string>;
  readonly bounds: AgentBounds;
  card(sdk: A2aSdk, fetchImpl: typeof fetch): Promise<AgentCard>;
}

const NEVER = new AbortController().signal;

/**
 * An app that answers with an agent that is served by A2A: a run is a task there. It is `resumable`: a restart takes the task up. Needs the package
 * `@a2a-js/sdk`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const app = a2aApp({ url: 'https://agent.example.com' });
 * const gateway = createGateway({ app });
 * ```
 */
export function a2aApp(options: A2aAppOptions): App {
  const { description = 'Answers with an agent of A2A', onDisconnect, origins = [], cardPath } = options;
  const { href: url, origin } = addressOf(options.url, 'url');
  const others = origins.map((one, at) => addressOf(one, `origins.${at}`).origin);
  let known: Promise<AgentCard> | undefined;
  const place: A2aPlace = {
    origins: new Set([origin, ...others]),
    bounds: replyBoundsOf(options),
    card(sdk, fetchImpl) {
      known ??= cardOf(sdk, { url, cardPath }, fetchImpl);
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
  };
  return defineApp({
    description,
    resumable: true,
    ...(onDisconnect && { onDisconnect }),
    ...versionsOf(options),
    [ASKS]: true,
    run: (turn: Turn) => converse(turn, options, place),
  } as Parameters<typeof defineApp>[0]);
}

/** Sends the message, answers the questions of its task, and sends the answers. */
async function* converse(
  turn: Turn,
  { headers = {}, maxRounds = 20 }: A2aAppOptions,
  { origins, bounds, card: cardFrom }: A2aPlace,
): AsyncGenerator<string | AppEvent, AppResult> {
  const sdk = await loadSdk();
  const sent = typeof headers === 'function' ? await headers(turn) : headers;
  const fetchWith = (signal: AbortSignal): AgentFetch =>
    new AgentFetch({ signal, traceparent: turn.traceparent }, { origins, headers: sent, bounds });
  const exchange = fetchWith(turn.signal);
  const card = await carried(fetchWith(NEVER), (fetchImpl) => cardFrom(sdk, fetchImpl));
  const client = await carried(exchange, (fetchImpl) => clientOf(sdk, card, fetchImpl));
  const task = new AgentTask(sdk, { card, client, exchange, contextId: contextOf(turn) });
  const cancel = async (): Promise<void> => {
    const { place, standing } = task.reader;
    if (!place || standing === 'completed' || standing === 'failed') return;
    const own = await clientOf(sdk, card, fetchWith(NEVER).fetch as typeof fetch);
    await own.cancelTask({ tenant: '', id: place.taskId, metadata: undefined });
  };
  const stop = (): void => {
    // A process that leaves the run to another one leaves the task to it too.
    if ((turn.signal.reason as Error)?.message !== 'lost') cancel().catch(() => {});
  };
  turn.signal.addEventListener('abort', stop, { once: true });
  const [message] = await withFiles(turn, [turn.message]);
  let parts = toParts(message!.content);
  for (let round = 1; round <= maxRounds; round += 1) {
    await turn.allowed();
    const asked = parts;
    const answered: TaskAnswered = yield* streamedStep<TaskAnswered>(
      turn,
      'agent',
      (step) => task.follow(asked, step),
      (former) => task.again(former),
    );
    const { place, standing, status } = answered;
    if (place) turn.annotate({ a2a: place });
    if (standing !== 'input' && standing !== 'auth') return { stopReason: 'end' };
    const answer = await askPerson(turn, { kind: standing, message: status?.message });
    if (!answer) {
      await cancel().catch(() => {});
      return { stopReason: 'end' };
    }
    parts = answer;
  }
  return { stopReason: 'tool_use' };
}

async function carried<T>(exchange: AgentFetch, work: (fetchImpl: typeof fetch) => Promise<T>): Promise<T> {
  try {
    return await work(exchange.fetch as typeof fetch);
  } catch (error) {
    throw upstreamFailed(exchange.failure ?? error);
  }
}

/** The context that the agent has given this conversation. */
function contextOf({ history }: Turn): string | undefined {
  const { a2a } = history.findLast(({ metadata }) => metadata?.a2a !== undefined)?.metadata ?? {};
  const { contextId } = (a2a ?? {}) as Partial<TaskPlace>;
  return typeof contextId === 'string' ? contextId : undefined;
}
