import { GatewayError } from '../../shared/errors.js';
import type { LogWriter } from '../log/log-writer.js';
import {
  APPROVALS,
  type Ballot,
  decided,
  due,
  isOver,
  openIn,
  type Settled,
  voted,
} from '../runs/approvals.js';
import { isOpen } from '../runs/ending.js';
import type { Answer } from '../runs/questions.js';
import { storeTime } from '../stores/skew.js';
import type { HeldSession } from './held-session.js';

/** A question that is due. */
export interface DueQuestion {
  readonly callId: string;
  /** Token of its record, as it was taken. */
  readonly token: number;
  /** Time of the store's clock, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Logs a vote in the session that is held here, with its decision. Null if more votes are needed.
 *
 * @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED`
 */
export async function vote(held: HeldSession, ballot: Ballot): Promise<Answer | null> {
  const { log, store } = held;
  const { callId } = ballot;
  const question = openIn(log.state, callId);
  if (held.over || !question) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
  const now = storeTime(store);
  // A gateway that is late does not make a voter late.
  if (isOver(question, now)) await expire(held, { callId, now });
  return settle(log, (state) => voted(state, ballot), {});
}

/** Decides a question whose time is over, in the session that is held here, or escalates it to more people. */
export async function expire(
  { log, runs }: HeldSession,
  { callId, token, now }: Omit<DueQuestion, 'token'> & Partial<DueQuestion>,
): Promise<void> {
  const question = openIn(log.state, callId);
  const aborts = question && isOver(question, now) && question.policy.onExpiry === 'abort';
  const run = aborts && question.runId !== undefined ? runs.find(question.runId) : null;
  if (run) {
    const fenced = APPROVALS.drop(callId, token);
    await runs.endWith([run], {
      ending: { stopReason: 'aborted', reason: `Nobody has decided on ${question!.name} in time` },
      concerns: (state) => isOpen(state, run.id) && openIn(state, callId) !== null,
      before: (state) => due(state, callId, now).events,
      cause: () => ({ events: [], records: [fenced] }),
      options: {},
    });
    return runs.advance();
  }
  const decision = await settle(log, (state) => due(state, callId, now), { token });
  if (decision) runs.questions.decide(callId, decision);
}

/** Decides a question that is open, whoever may vote on it. */
export async function decide({ log, runs }: HeldSession, callId: string, decision: Answer): Promise<void> {
  const made = (state: LogWriter['state']): Settled => {
    const question = openIn(state, callId);
    return question ? decided(question, decision) : { events: [] };
  };
  const settled = await settle(log, made, {});
  if (settled) runs.questions.decide(callId, settled);
}

/** Logs the result of a question, computed from the state of the log just before it. */
async function settle(
  log: LogWriter,
  made: (state: LogWriter['state']) => Settled,
  { token }: { readonly token?: number | undefined },
): Promise<Answer | null> {
  let settled: Settled = { events: [] };
  const committed = await log.commit(
    (state) => {
      settled = made(state);
      return settled.events;
    },
    {
      refusable: true,
      records: () =>
        settled.records?.map((record) => ({ ...record, ...(token !== undefined && { token }) })) ?? [],
    },
  );
  return committed.stale ? null : (settled.decision ?? null);
}
