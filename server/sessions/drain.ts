import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../async/deadline.js';
import { isPromise } from '../async/maybe-promise.js';
import type { HeldSession } from '../held/held-session.js';
import type { LiveRun } from '../runs/live-run.js';
import type { SessionDirectory } from './directory.js';
import type { Session } from './session.js';

/** Time between two looks for work that other gateways sent meanwhile, in milliseconds. */
const LOOK_MS = 100;

/** How sessions are drained. */
export interface DrainOptions {
  readonly drainMs: number;
  /** Time that the store may take to keep appended events, in milliseconds. */
  readonly storeMs: number;
  /** Whether the store passes unfinished work on. */
  readonly handOver: boolean;
  /** Other work that may use sessions. Draining waits for it within the same bound. */
  readonly others: Promise<void>;
  /** Whether admitted requests still wait for their answers to begin. */
  answers(): boolean;
  /** Whether callers here follow runs that may go on at other gateways. */
  tells(): boolean;
}

/**
 * Lets runs finish within a bound, ends the rest as `lost`, stores what every session appended and gives the session up. A store that
 * outlives the process keeps queued messages and the runs of resumable apps, so these are left there without waiting. Other gateways on the
 * store receive at once the sessions that need not end here, and callers here are still told how those runs end.
 */
export async function drainSessions(sessions: SessionDirectory, options: DrainOptions): Promise<void> {
  const { drainMs, storeMs, handOver } = options;
  if (handOver) sessions.startNoMore();
  const over = new AbortController();
  await within(finish(sessions, options, over.signal), drainMs);
  over.abort();
  await Promise.all([...sessions.values()].map((session) => giveUp(session, storeMs, handOver)));
}

/** Ends the work that can't be left to others, and gives a session up. Hands it to another gateway so that none has to find it first. */
async function giveUp(session: Session, storeMs: number, handOver: boolean): Promise<void> {
  const { cluster, held, ref } = session;
  const isLeft = handOver && (held?.runs.busy ?? false);
  if (handOver) held?.runs.handOver();
  session.endCalls('The gateway is shutting down');
  held?.runs.endAll({ stopReason: 'lost', reason: 'the gateway is shutting down' });
  await session.abandon(storeMs);
  if (isLeft) await cluster.handOver(ref);
}

/** Waits until nothing runs here that has to end here. An append on its way to the store counts too: it may begin a run. */
async function finish(
  sessions: SessionDirectory,
  { storeMs, handOver, others, answers, tells }: DrainOptions,
  over: AbortSignal,
): Promise<void> {
  let areOthersOver = false;
  others.then(() => {
    areOthersOver = true;
  });
  while (!over.aborted) {
    const all = [...sessions.values()];
    const gone = all.filter((session) => handOver && needNotEndHere(session));
    await Promise.all(gone.map((session) => giveUp(session, storeMs, true)));
    const waited: Promise<unknown>[] = all.flatMap((session) => [
      ...(session.callsUnderWay > 0 ? [session.calls.ended()] : []),
      ...(session.held ? workIn(session.held, handOver) : []),
    ]);
    const isTelling = answers() || (tells() && (await sessions.cluster.hasOthers()));
    if (waited.length === 0 && areOthersOver && !isTelling) return;
    const settled = Promise.allSettled([...waited, ...(areOthersOver ? [] : [others])]);
    if (isTelling) await delay(LOOK_MS);
    else await within(settled, LOOK_MS);
    // Let continuations of that work run first.
    await new Promise(setImmediate);
  }
}

/** The number of runs whose ends a close would wait for. */
export function waitedFor(sessions: Iterable<Session>, handOver: boolean): number {
  let count = 0;
  for (const session of sessions)
    if (session.held?.runs.busy && !(handOver && needNotEndHere(session)))
      count += endingHere(session.held, handOver).length;
  return count;
}

/** The runs that have to end here. Nobody waits for a person where a restart forgets all sessions: the pages of such a gateway end with it. */
function endingHere({ log, runs }: HeldSession, handOver: boolean): readonly LiveRun[] {
  if (handOver) return runs.running;
  return log.view.activity.status === 'waiting' ? [] : runs.all();
}

/** The work in a session that has to end here, and its appends on their way. */
function workIn(held: HeldSession, handOver: boolean): readonly Promise<unknown>[] {
  const { log } = held;
  const ends = endingHere(held, handOver).map((run) => run.ended);
  return log.stalled ? ends : [...ends, ...[log.settled()].filter(isPromise)];
}

/** Whether another gateway, or the next process of this one, can take the session over now: its work here, if any, only waits for a person. */
function needNotEndHere({ callsUnderWay, held }: Session): boolean {
  if (!held || held.log.stalled || callsUnderWay > 0 || held.log.pending) return false;
  const { env, log, ref, runs } = held;
  const { running } = runs;
  const isOne = running.length === 1 && running[0] === runs.active && running[0]!.tree.length === 1;
  const waits = isOne && log.view.activity.status === 'waiting' && (env.app(ref.app).resumable ?? false);
  return running.length === 0 || waits;
}
