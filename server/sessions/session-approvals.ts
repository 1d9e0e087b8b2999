import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { GroupOptions } from '../log/append-group.js';
import type { LogWriter } from '../log/log-writer.js';
import { APPROVAL, type Ballot, due, isOver, openIn, type Settled, voted } from '../runs/approvals.js';
import type { Answer } from '../runs/questions.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionDirectory } from './directory.js';
import type { SessionEnvironment } from './environment.js';
import { isOpen } from './run-endings.js';
import type { SessionRuns } from './session-runs.js';

/** A question that is due. */
export interface DueQuestion {
  readonly callId: string;
  /** Of its record, as it was taken. */
  readonly token: number;
  /** By the store's clock, in milliseconds since the epoch. */
  readonly now: number;
}

/** The time by the store's clock, in milliseconds since the epoch. */
export function storeNow({ store }: Pick<SessionEnvironment, 'store'>): number {
  return Date.now() + (store.shared?.skewMs ?? 0);
}

/**
 * Logs a vote in the session that is held here, with what it decides. Null where more of them are needed.
 *
 * @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED`
 */
export async function vote(runs: SessionRuns, ballot: Ballot): Promise<Answer | null> {
  const log = runs.session.writer;
  const { callId } = ballot;
  const question = log && openIn(log.state, callId);
  if (!log || !question) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
  const now = storeNow(runs.env);
  // Nobody is late only because the gateway is.
  if (isOver(question, now)) await expire(runs, { callId, now });
  return settle(log, (state) => voted(state, ballot), {});
}

/** Decides a question whose time is over, in the session that is held here, or puts it to more people. */
export async function expire(
  runs: SessionRuns,
  { callId, token, now }: Omit<DueQuestion, 'token'> & Partial<DueQuestion>,
): Promise<void> {
  const log = runs.session.writer;
  if (!log) throw new GatewayError({ code: 'OVERLOADED', retryAfterMs: 1000 });
  const question = openIn(log.state, callId);
  const aborts = question && isOver(question, now) && question.policy.onExpiry === 'abort';
  const run = aborts && question.runId !== undefined ? runs.queue.find(question.runId) : null;
  if (run) {
    const fenced = { kind: APPROVAL, id: callId, ...(token !== undefined && { token }) };
    await runs.endWith(log, [run], {
      ending: { stopReason: 'aborted', reason: `Nobody has decided on ${question!.name} in time` },
      concerns: (state) => isOpen(state, run.id) && openIn(state, callId) !== null,
      before: (state) => due(state, callId, now).events,
      cause: () => [],
      options: { records: [fenced] },
    });
    return runs.advance();
  }
  const decision = await settle(log, (state) => due(state, callId, now), { token });
  if (decision) runs.questions.decide(callId, decision);
}

/** Logs what comes of a question, by the log as it stands just before that. */
async function settle(
  log: LogWriter,
  made: (state: LogWriter['state']) => Settled,
  { token }: { readonly token?: number | undefined },
): Promise<Answer | null> {
  let decision: Answer | null = null;
  // The change of its record is known with the events: by when the writer asks for it, they are made.
  const options: Pick<GroupOptions, 'refusable'> & { records?: readonly RecordChange[] } = {
    refusable: true,
  };
  const committed = await log.commit((state): readonly EventDraft[] => {
    const { events, records, decision: found = null } = made(state);
    decision = found;
    if (records)
      options.records = records.map((record) => ({ ...record, ...(token !== undefined && { token }) }));
    return events;
  }, options);
  return committed.stale ? null : decision;
}

/** Decides what is due of a question, whichever gateway holds its session. One that is not there any more has none. */
export async function handleDue(
  sessions: SessionDirectory,
  store: Pick<Store, 'changeRecords'>,
  { home, id, token }: StoredRecord,
  now: number,
): Promise<void> {
  if (home.app === undefined) return;
  // Another gateway has the app: it is due again there.
  if (!sessions.serves(home)) return;
  try {
    await sessions.perform(home, { type: 'expire', callId: id, token, now });
  } catch (error) {
    if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    await store.changeRecords(home, [{ kind: APPROVAL, id, token }]);
  }
}
