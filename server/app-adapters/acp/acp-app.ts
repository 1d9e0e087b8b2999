import { setImmediate } from 'node:timers/promises';
import type { ContentBlock as AcpBlock, PromptResponse } from '@agentclientprotocol/sdk';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import { type App, defineApp } from '../../apps/define-app.js';
import { versionsOf } from '../../apps/versions.js';
import { againAfterFault } from '../again-after-fault.js';
import { withFiles } from '../inline-files.js';
import { toldBefore } from '../told-before.js';
import { AgentPool } from './agent-pool.js';
import type { AgentProcess } from './agent-process.js';
import { type AcpAppOptions, type AcpBounds, acpBounds } from './options.js';
import { toPrompt } from './prompt.js';
import { AcpRunReader } from './run-reader.js';

export type { AcpAppOptions };

/**
 * An app that answers with a program that speaks the Agent Client Protocol, such as a coding agent: one process a session. Its requests for permission are
 * questions to the person. Needs the packages `@agentclientprotocol/sdk` and `@modelcontextprotocol/server`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const app = acpApp({ command: '/usr/bin/gemini', args: ['--experimental-acp'], cwd: '/srv/work' });
 * const gateway = createGateway({ app });
 * ```
 */
export function acpApp(options: AcpAppOptions): App<Readonly<Record<never, never>>> {
  const bounds = acpBounds(options);
  const pool = new AgentPool(options, bounds);
  const { description = `Answers with ${options.command}`, onDisconnect, resumable, onFault } = options;
  return defineApp({
    description,
    ...(onDisconnect && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    async *run(turn: Turn) {
      // An agent's work is more than a rehearsal may do.
      if (turn.rehearsing) return {};
      return yield* againAfterFault(turn, onFault, () => converse(turn, pool, bounds));
    },
  });
}

async function* converse(
  turn: Turn,
  pool: AgentPool,
  bounds: AcpBounds,
): AsyncGenerator<string | AppEvent, AppResult> {
  await turn.allowed();
  const [message] = await withFiles(turn, [turn.message]);
  const agent = await pool.take(turn);
  const { promptCapabilities } = agent.capabilities;
  let before: AcpBlock[];
  try {
    before = await beginSession(turn, agent, bounds);
  } catch (error) {
    pool.leave(turn, agent, Promise.resolve());
    throw error;
  }
  let prompt = [...before, ...toPrompt(message!.content, promptCapabilities)];
  for (;;) {
    const { stopReason } = yield* askOnce(turn, { pool, agent, prompt, bounds });
    if (stopReason === 'max_tokens' || stopReason === 'max_turn_requests')
      return { stopReason: 'max_tokens' };
    const steered = await withFiles(turn, turn.steered());
    if (steered.length === 0) return { stopReason: 'end' };
    prompt = steered.flatMap(({ content }) => toPrompt(content, promptCapabilities));
  }
}

/** One question to the agent, until its end. */
async function* askOnce(
  turn: Turn,
  {
    pool,
    agent,
    prompt,
    bounds: { graceMs },
  }: {
    readonly pool: AgentPool;
    readonly agent: AgentProcess;
    readonly prompt: AcpBlock[];
    readonly bounds: AcpBounds;
  },
): AsyncGenerator<string | AppEvent, PromptResponse> {
  const reader = new AcpRunReader(turn);
  const sessionId = agent.session!;
  agent.listener = reader;
  agent.lastRun = turn.runId;
  let isOver = false;
  const prompted = agent.ask((context) => context.request('session/prompt', { sessionId, prompt }));
  const ended = prompted.finally(async () => {
    isOver = true;
    // The agent's last updates are heard a moment later.
    await setImmediate();
    reader.end();
  });
  ended.catch(() => {});
  const stop = (): void => reader.end();
  turn.signal.addEventListener('abort', stop, { once: true });
  try {
    yield* reader.items();
    turn.signal.throwIfAborted();
    return await ended;
  } finally {
    turn.signal.removeEventListener('abort', stop);
    if (!isOver) {
      agent.ask((context) => context.notify('session/cancel', { sessionId })).catch(() => {});
      const timer = setTimeout(() => agent.end(), graceMs);
      ended.catch(() => {}).then(() => clearTimeout(timer));
    }
    pool.leave(
      turn,
      agent,
      ended.catch(() => {}),
    );
    await count(turn, agent, reader);
  }
}

/** Counts what the session has cost since it was last counted. */
async function count(turn: Turn, agent: AgentProcess, { cost }: AcpRunReader): Promise<void> {
  if (!cost || cost.amount <= agent.cost || turn.signal.aborted) return;
  const spent = cost.amount - agent.cost;
  agent.cost = cost.amount;
  note(turn, agent);
  await turn.usage({ cost: spent, currency: cost.currency });
}

/** The agent's session, as an answer notes it for the run after it. */
interface AcpNote {
  readonly session: string;
  /** The conversation that it belongs to: a fork must not go on with it. */
  readonly epoch: string;
  readonly cost: number;
}

function note(turn: Turn, { session, cost }: AgentProcess): void {
  turn.annotate({ acp: { session: session!, epoch: turn.session.epoch, cost } satisfies AcpNote });
}

/**
 * Has the agent go on with its session of this conversation, or begin one.
 *
 * @returns what the agent must be told first
 */
async function beginSession(turn: Turn, agent: AgentProcess, bounds: AcpBounds): Promise<AcpBlock[]> {
  const last = turn.history.findLast(({ role }) => role === 'assistant');
  const noted = last?.metadata?.acp as AcpNote | undefined;
  const isOurs = noted?.epoch === turn.session.epoch && turn.trigger?.type !== 'child';
  let isNew = false;
  // A run that is resumed goes on in the session that it had.
  const { session, cost } = await turn.step('session', async () => {
    const goesOn = agent.session !== null && agent.lastRun === (last?.runId ?? null);
    const isTakenUp = goesOn || (agent.session === null && isOurs && (await takeUp(agent, noted, bounds)));
    if (!isTakenUp) await beginAnew(agent, bounds);
    isNew = !isTakenUp;
    return { session: agent.session!, cost: agent.cost };
  });
  if (agent.session !== session && !(await takeUp(agent, { session, cost }, bounds))) {
    await beginAnew(agent, bounds);
    isNew = true;
  }
  note(turn, agent);
  const told = isNew ? toldBefore(turn.history) : null;
  return told === null ? [] : [{ type: 'text', text: told }];
}

async function beginAnew(agent: AgentProcess, { startMs }: AcpBounds): Promise<void> {
  const { cwd } = agent;
  agent.session = null;
  const begun = await agent.within(startMs, (context) =>
    context.request('session/new', { cwd, mcpServers: [] }),
  );
  agent.session = begun.sessionId;
  agent.cost = 0;
}

/** Has a new process take a session up. @returns whether it could */
async function takeUp(
  agent: AgentProcess,
  { session, cost }: Pick<AcpNote, 'session' | 'cost'>,
  { startMs }: AcpBounds,
): Promise<boolean> {
  const { loadSession, sessionCapabilities } = agent.capabilities;
  const asked = { sessionId: session, cwd: agent.cwd, mcpServers: [] };
  const method = sessionCapabilities?.resume ? 'session/resume' : loadSession ? 'session/load' : null;
  if (method === null) return false;
  try {
    await agent.within(startMs, (context) => context.request(method, asked));
  } catch (error) {
    // It may have forgotten it.
    if (agent.isDead) throw error;
    return false;
  }
  agent.session = session;
  agent.cost = cost;
  return true;
}
