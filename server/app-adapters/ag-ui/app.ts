import type { AppEvent, AppResult, Turn, UsedCall } from '../../apps/application.js';
import { ASKS } from '../../apps/check-app.js';
import { type CompactionOption, compactOf } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { versionsOf } from '../../apps/versions.js';
import { digestOf, fittingId } from '../../ids.js';
import { AgentFetch } from '../agent-fetch.js';
import { addressOf, replyBoundsOf, type ServedAgentOptions } from '../agent-options.js';
import { branchThread } from '../branch-thread.js';
import { offeredTools } from '../offered-tools.js';
import { once } from '../once.js';
import { streamedStep } from '../streamed-step.js';
import { AgentRun } from './agent-run.js';
import { answerCalls, answerInterrupts, type ResumeEntry } from './answers.js';
import { toldConversation } from './history.js';
import { loadSdk } from './sdk.js';

/** All that an agent is told beside messages and tools. */
export interface AgUiInput {
  /** The state to begin with. @default the last that the agent has told in this conversation */
  readonly state?: unknown;
  readonly context?: readonly { readonly description: string; readonly value: string }[];
  readonly forwardedProps?: unknown;
}

/** Options of an app that answers with an agent of AG-UI. */
export interface AgUiAppOptions<Tools extends ToolSet = ToolSet>
  extends ServedAgentOptions,
    CompactionOption {
  /** Tools that run in the gateway, offered to the agent along with those of the turn's caller. */
  readonly tools?: Tools;
  /** Makes all that the agent is told beside messages and tools. @default what the caller has sent, which is untrusted: `turn.parameters` */
  readonly input?: (turn: Turn) => AgUiInput;
  /** Names the agent's thread. @default one for each conversation, and for each branch of it */
  readonly threadId?: (turn: Turn) => string;
  /** Most requests to the agent in one run. Each round of answers takes one. @default 20 */
  readonly maxRounds?: number;
  /**
   * Whether a run resumes after a restart, with its open questions. A request that ended is not made again. One that was under way is, with the same `threadId` and
   * `runId`: an agent that does not know them runs twice.
   *
   * @default false
   */
  readonly resumable?: boolean;
}

/**
 * An app that answers with an agent that is served by AG-UI. Needs the package `@ag-ui/client`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const app = agUiApp({ url: 'http://127.0.0.1:8000/agent' });
 * const gateway = createGateway({ app });
 * ```
 */
export function agUiApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: AgUiAppOptions<Tools>,
): App<Tools> {
  const { description = 'Answers with an agent of AG-UI', tools, onDisconnect, resumable } = options;
  const { href, origin } = addressOf(options.url, 'url');
  const place = { href, origins: new Set([origin]), bounds: replyBoundsOf(options) };
  return defineApp<Tools>({
    description,
    ...(tools && { tools }),
    ...(onDisconnect && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    ...compactOf(options),
    [ASKS]: true,
    run: (turn: Turn) => converse(turn, options as AgUiAppOptions, place),
  } as Parameters<typeof defineApp<Tools>>[0]);
}

interface AgUiPlace {
  readonly href: string;
  readonly origins: ReadonlySet<string>;
  readonly bounds: ReturnType<typeof replyBoundsOf>;
}

/** Asks the agent, answers its questions and calls, and asks again with the answers. */
async function* converse(
  turn: Turn,
  options: AgUiAppOptions,
  { href, origins, bounds }: AgUiPlace,
): AsyncGenerator<string | AppEvent, AppResult> {
  const { tools: own = {}, resumable = false, maxRounds = 20, headers = {} } = options;
  const sdk = await loadSdk();
  const offered = offeredTools(turn, own);
  const told = await toldConversation(turn);
  const { state, context = [], forwardedProps = {} } = (options.input ?? inputOf)(turn);
  const sent = typeof headers === 'function' ? await headers(turn) : headers;
  const run = new AgentRun(sdk, {
    url: href,
    answered: new Set(offered.map(({ name }) => name)),
    known: told.calls,
    fetchWith: (wanted) => new AgentFetch(turn, { origins, headers: sent, bounds, wanted }),
  });
  const request = {
    // Agents differ in the characters that they allow. A digest tells them no id of a person either.
    threadId: options.threadId?.(turn) ?? digestOf(branchThread(turn)),
    tools: offered.map(({ name, description = '', parameters = {} }) => ({ name, description, parameters })),
    context: [...context],
    forwardedProps,
  };
  const perform = <T>(name: string, work: () => T | Promise<T>): T | Promise<T> =>
    resumable ? once(turn, name, work) : work();
  const ids: string[] = [];
  const note = (open: readonly string[]): void => turn.annotate({ agUi: { ids: [...ids], open } });
  const hooks = { begun: () => note([]), used: (usage: UsedCall) => void turn.usage(usage) };
  let { messages } = told;
  let resume: ResumeEntry[] = told.open.map((interruptId) => ({ interruptId, status: 'cancelled' }));
  for (let round = 1; round <= maxRounds; round += 1) {
    await turn.allowed();
    const asked = {
      ...request,
      // The same after a restart, for agents that know it again.
      runId: round === 1 ? turn.runId : `${turn.runId}:${round}`,
      state: round === 1 ? (state ?? told.state ?? {}) : run.reader.state,
      messages,
      ...(resume.length > 0 && { resume }),
    };
    const answered = resumable
      ? yield* streamedStep(
          turn,
          'agent',
          () => run.ask(asked, hooks),
          (former) => run.again(former),
        )
      : yield* run.ask(asked, hooks);
    for (const usage of answered.usage) await turn.usage(usage);
    const { said, interrupts, pending } = answered;
    const own = said.filter(({ role }) => role !== 'reasoning');
    ids.push(...own.map(({ id }) => id));
    messages = [...messages, ...own];
    note(interrupts.map(({ id }) => id));
    // An answer without content is in no history, and its notes are lost with it.
    if (ids.length === 0)
      for (const { id, ...value } of interrupts)
        yield { type: 'data', id: fittingId(id), name: 'interrupt', value };
    resume = await answerInterrupts(turn, interrupts, (id) => run.reader.call(id));
    if (interrupts.length > 0) continue;
    const calls = pending.flatMap((id) => {
      const call = run.reader.call(id);
      return call && run.isOurs(call.name) ? [{ id, ...call }] : [];
    });
    if (calls.length === 0) return { stopReason: pending.length > 0 ? 'tool_use' : 'end' };
    const results = await answerCalls(turn, calls, perform);
    ids.push(...results.map(({ id }) => id));
    run.reader.answered(calls);
    messages = [...messages, ...results];
  }
  return { stopReason: 'tool_use' };
}

/** The values that the turn's caller has sent for an agent, as pages of AG-UI do. */
function inputOf({ parameters: { context, state, forwardedProps } }: Turn): AgUiInput {
  return {
    ...(state !== undefined && { state }),
    ...(Array.isArray(context) && { context }),
    ...(forwardedProps !== undefined && { forwardedProps }),
  };
}
