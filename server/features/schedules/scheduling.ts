import type { UserContext } from '../../../shared/contract.js';
import { fieldError, isGatewayError } from '../../../shared/errors.js';
import type { EventDraft } from '../../../shared/events.js';
import type { Message } from '../../../shared/messages.js';
import type { FiredInstant, Schedule, SkipReason } from '../../../shared/schedules/contract.js';
import { acceptWith, StaleRecord } from '../../held/acceptance.js';
import type { HeldSession } from '../../held/held-session.js';
import { newMessageId, newRunId, ownKey } from '../../ids.js';
import { LimitError } from '../../limit-error.js';
import type { LogWriter } from '../../log/log-writer.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { RunRequest } from '../../runs/live-run.js';
import type { RecordChange, StoredRecord } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import { occurrencesOf, type Passed, passedBy } from './occurrences.js';
import { dropping, type KeptSchedule, keeping, keptOf, SCHEDULE } from './schedule-record.js';

/** Missed instants that fire each by itself, with `missed: 'all'`; those before them are skipped. */
const MOST_MISSED = 24;

/** Refusals of a message for which an instant is skipped. */
const SKIPS: Readonly<Record<string, SkipReason>> = {
  QUEUE_FULL: 'busy',
  SESSION_BUSY: 'busy',
  TAKEN_OVER: 'taken_over',
};

/** A new schedule. The holder of the session adds the gateway's part. */
export interface NewSchedule {
  readonly schedule: Omit<Schedule, 'nextAt' | 'setAt'>;
  readonly user: UserContext;
  /** Whether host code names the user. */
  readonly byHost: boolean;
  readonly senderId: string | undefined;
  /** `limits.schedulesPerSession`. */
  readonly most: number;
  /** The grant by which the user reaches the session; absent for an owner. */
  readonly via?: string | undefined;
}

/** A schedule that is due. */
export interface DueSchedule {
  readonly record: Pick<StoredRecord, 'id' | 'value' | 'token'>;
  /** The time by the store's clock. */
  readonly now: number;
  /** Lateness up to which an instant does not count as missed, in milliseconds. */
  readonly graceMs: number;
  /** The user as whom it fires, or the reason why it does not. */
  readonly as: { readonly user: UserContext } | { readonly skipped: SkipReason };
  /** The grant by which it was set. */
  readonly via?: string | undefined;
}

const sameTimes = (a: Schedule, b: Omit<Schedule, 'nextAt' | 'setAt'>): boolean => {
  const { nextAt: _, setAt: __, ...rest } = a;
  return JSON.stringify(Object.entries(rest).sort()) === JSON.stringify(Object.entries(b).sort());
};

/**
 * The schedules of a conversation with their tokens, ordered by their next instant.
 *
 * @throws StoreError
 */
export async function schedulesOf(
  store: Pick<Store, 'records'>,
  home: SessionRef,
  epoch: string,
): Promise<readonly (KeptSchedule & { readonly token: number })[]> {
  const records = await store.records({ home, kind: SCHEDULE, limit: 1000 });
  return records
    .map((record) => ({ ...keptOf(record), token: record.token }))
    .filter((kept) => kept.epoch === epoch)
    .sort((a, b) => a.schedule.nextAt - b.schedule.nextAt);
}

/**
 * Sets a schedule, unless an equal one is set already.
 *
 * @throws GatewayError `QUOTA_EXCEEDED` naming `limits.schedulesPerSession`, `INVALID_PARAMS` for times that never come
 */
export function setSchedule(held: HeldSession, given: NewSchedule): Promise<Schedule> {
  return held.inTurn(() => set(held, given));
}

async function set(
  { log, ref, store }: HeldSession,
  { schedule, user: { id, tenantId }, byHost, senderId, most, via }: NewSchedule,
): Promise<Schedule> {
  const { epoch } = log.ref;
  for (;;) {
    const records = await asUnavailable(() => store.records({ home: ref, kind: SCHEDULE, limit: 1000 }));
    const there = records.find(({ id }) => id === schedule.id);
    const before = there && keptOf(there);
    if (before?.epoch === epoch && sameTimes(before.schedule, schedule)) return before.schedule;
    const others = records.filter((record) => record !== there && keptOf(record).epoch === epoch);
    if (others.length >= most) {
      const message = `A session has at most ${most} schedules (limits.schedulesPerSession)`;
      throw new LimitError('limits.schedulesPerSession', { code: 'QUOTA_EXCEEDED', message });
    }
    const setAt = storeTime(store);
    const nextAt = schedule.at ?? (await occurrencesOf(schedule, setAt)).after(setAt);
    if (nextAt === null) throw fieldError('every', 'must fire at least once from now on');
    const made = { ...schedule, setAt, nextAt };
    const draft: EventDraft = { type: 'schedule_set', ts: Date.now(), ...made };
    const by = { ...(senderId !== undefined && { senderId }), ...(via !== undefined && { grantId: via }) };
    const user = { id, roles: [], ...(tenantId !== undefined && { tenantId }) } as unknown as UserContext;
    const kept = { epoch, schedule: made, user, ...(byHost && { byHost }), ...by };
    if (await write(log, [draft], keeping(kept, there?.token ?? 0))) return made;
  }
}

/** The end of the schedules that were set by a grant with that of the grant, for the same append. @throws StoreError */
export async function schedulesAfter(
  { log, ref, store }: HeldSession,
  grantId: string,
): Promise<{ readonly events: readonly EventDraft[]; readonly records: readonly RecordChange[] }> {
  const ended = (await schedulesOf(store, ref, log.ref.epoch)).filter((kept) => kept.grantId === grantId);
  return {
    events: ended.map(({ schedule: { id } }) => unset(id, 'gateway')),
    records: ended.map(({ schedule: { id }, token }) => dropping(id, token)),
  };
}

const unset = (id: string, by: string): EventDraft => ({ type: 'schedule_unset', ts: Date.now(), id, by });

/** Takes a schedule back, if there is one. */
export async function unsetSchedule(
  { log, ref, store }: HeldSession,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<void> {
  for (;;) {
    const schedules = await asUnavailable(() => schedulesOf(store, ref, log.ref.epoch));
    const kept = schedules.find(({ schedule }) => schedule.id === id);
    if (!kept) return;
    if (await write(log, [unset(id, by)], dropping(id, kept.token))) return;
  }
}

/** Fires a schedule that is due. Its run, its event and its next instant are one append. A worker with an outdated token does nothing. */
export async function fireSchedule(held: HeldSession, due: DueSchedule): Promise<void> {
  const { log } = held;
  const { record, now, graceMs, as } = due;
  const { id, token } = record;
  const kept = keptOf(record);
  const { schedule } = kept;
  // The schedule belongs to a conversation that is over.
  if (kept.epoch !== log.ref.epoch) return void (await write(log, [], dropping(id, token)));
  const occurrences = await occurrencesOf(schedule, schedule.setAt);
  const most = schedule.missed === 'all' ? MOST_MISSED + 1 : 1;
  const passed = await passedBy(occurrences, { first: schedule.nextAt, time: now, kept: most });
  const fired = instantOf(schedule, passed, now - graceMs);
  const isLast = fired.instant === passed.last.at(-1);
  const nextAt = isLast ? passed.nextAt : occurrences.after(fired.instant);
  const change =
    nextAt === null ? dropping(id, token) : keeping({ ...kept, schedule: { ...schedule, nextAt } }, token);
  const event = { ...fired, id, nextAt };
  const fire = (skipped: Pick<FiredInstant, 'skipped'>): Promise<boolean> =>
    write(log, [{ type: 'schedule_fired', ts: Date.now(), ...event, ...skipped }], change);
  if (fired.skipped) return void (await fire({}));
  if ('skipped' in as) return void (await fire(as));
  const drafts = (runId: string): readonly EventDraft[] => [
    { type: 'schedule_fired', runId, ts: Date.now(), ...event },
  ];
  try {
    const accepted = await acceptWith(held, requestOf(kept, as.user, fired.instant), {
      drafts,
      records: [change],
    });
    // An earlier schedule of this name has fired at this instant, and was taken back.
    if ('duplicate' in accepted) await write(log, drafts(accepted.duplicate.runId), change);
  } catch (error) {
    if (error instanceof StaleRecord) return;
    const skipped = isGatewayError(error) ? SKIPS[error.code] : undefined;
    if (!skipped) throw error;
    await fire({ skipped });
  }
}

/** The run that an instant of a schedule begins. */
function requestOf(
  { schedule: { id, message: text }, senderId }: KeptSchedule,
  user: UserContext,
  instant: number,
): RunRequest {
  const message: Message = {
    id: newMessageId(),
    role: 'user',
    content: [{ type: 'text', text }],
    createdAt: instant,
    ...(senderId !== undefined && { senderId }),
  };
  return {
    ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue', key: ownKey('schedule', id, instant) },
    ...{ user, metadata: {}, clientTools: [], parameters: {}, trigger: { type: 'schedule', id, instant } },
  };
}

/**
 * The passed instant that the next event accounts for, with the number of earlier ones that it stands for.
 *
 * @param late Instants before this time were missed
 */
function instantOf(
  { missed, nextAt: first }: Schedule,
  { last, count }: Passed,
  late: number,
): Pick<FiredInstant, 'instant' | 'skipped' | 'missed'> {
  const instant = last.at(-1)!;
  const before = count > 1 ? { missed: count - 1 } : {};
  if (missed === 'once') return { instant, ...before };
  if (missed === 'skip') return { instant, ...before, ...(instant < late && { skipped: 'missed' }) };
  // Each instant fires by itself. The next one follows this one.
  if (count <= MOST_MISSED) return { instant: first };
  const left = last.length > MOST_MISSED ? MOST_MISSED : 0;
  const skipped = { instant: last.at(-1 - left)!, skipped: 'missed' } as const;
  return count - left > 1 ? { ...skipped, missed: count - left - 1 } : skipped;
}

/** Writes a change of a record together with its events. Returns whether the record was still the expected one. */
async function write(log: LogWriter, drafts: readonly EventDraft[], change: RecordChange): Promise<boolean> {
  const { stale } = await log.commit(drafts, { records: [change], refusable: true });
  return !stale;
}
