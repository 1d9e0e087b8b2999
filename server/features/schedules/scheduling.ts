import type { UserContext } from '../../../shared/contract.js';
import { fieldError, isGatewayError } from '../../../shared/errors.js';
import type { EventDraft } from '../../../shared/events.js';
import type { Message } from '../../../shared/messages.js';
import type { FiredInstant, Schedule, SkipReason } from '../../../shared/schedules/contract.js';
import { acceptWith, StaleRecord } from '../../held/acceptance.js';
import type { HeldSession } from '../../held/held-session.js';
import { changeKept } from '../../held/keeping.js';
import { newMessageId, newRunId, ownKey } from '../../ids.js';
import type { LogWriter } from '../../log/log-writer.js';
import { assertRoom, type Kept } from '../../records/kind.js';
import type { RunRequest, RunSender } from '../../runs/live-run.js';
import type { RecordChange } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import type { LogRef } from '../../stores/stored.js';
import { occurrencesOf, type Passed, passedBy } from './occurrences.js';
import { type KeptSchedule, SCHEDULES } from './schedule-record.js';

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
  readonly pays: string;
  /** Set if host code names the user. */
  readonly byHost?: true;
  readonly senderId?: string;
  /** `limits.schedulesPerSession`. */
  readonly most: number;
  /** The grant by which the user reaches the session; absent for an owner. */
  readonly via?: string | undefined;
}

/** A schedule that is due. */
export interface DueSchedule {
  readonly kept: Kept<KeptSchedule>;
  /** The time by the store's clock. */
  readonly now: number;
  /** Lateness up to which an instant does not count as missed, in milliseconds. */
  readonly graceMs: number;
  /** The person as whom it fires, or the reason why it does not. */
  readonly as: RunSender | { readonly skipped: SkipReason };
  /** The grant by which it was set. */
  readonly via?: string | undefined;
}

const sameTimes = (a: Schedule, b: Omit<Schedule, 'nextAt' | 'setAt'>): boolean => {
  const { nextAt: _, setAt: __, ...rest } = a;
  return JSON.stringify(Object.entries(rest).sort()) === JSON.stringify(Object.entries(b).sort());
};

/** The schedules of a conversation, ordered by their next instant. @throws GatewayError `OVERLOADED` */
export async function schedulesOf(store: Pick<Store, 'records'>, log: LogRef): Promise<readonly Schedule[]> {
  const kept = (await SCHEDULES.all(store, log)).map(({ value }) => value.schedule);
  return kept.sort((a, b) => a.nextAt - b.nextAt);
}

/**
 * Sets a schedule, unless an equal one is set already.
 *
 * @throws GatewayError `QUOTA_EXCEEDED` naming `limits.schedulesPerSession`, `INVALID_PARAMS` for times that never come
 */
export function setSchedule(
  held: HeldSession,
  { schedule, user: { id, tenantId }, most, via, ...given }: NewSchedule,
): Promise<Schedule> {
  const { epoch } = held.log.ref;
  return changeKept(held, SCHEDULES, async (all) => {
    const there = all.find((kept) => kept.id === schedule.id);
    if (there && sameTimes(there.value.schedule, schedule)) return { result: there.value.schedule };
    assertRoom(all.length - (there ? 1 : 0), {
      ...{ most, option: 'limits.schedulesPerSession' },
      says: `A session has at most ${most} schedules`,
    });
    const setAt = storeTime(held.store);
    const nextAt = schedule.at ?? (await occurrencesOf(schedule, setAt)).after(setAt);
    if (nextAt === null) throw fieldError('every', 'must fire at least once from now on');
    const made = { ...schedule, setAt, nextAt };
    const user = { id, roles: [], ...(tenantId !== undefined && { tenantId }) } as unknown as UserContext;
    const kept = { ...given, schedule: made, user, ...(via !== undefined && { grantId: via }) };
    const record = SCHEDULES.put(schedule.id, kept, { epoch, ...(there && { token: there.token }) });
    const event: EventDraft = { type: 'schedule_set', ts: Date.now(), ...made };
    return { plan: { events: [event], records: [record] }, result: made };
  });
}

/** Takes a schedule back, if there is one. */
export function unsetSchedule(
  held: HeldSession,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<void> {
  return changeKept(held, SCHEDULES, (all) => {
    const kept = all.find((one) => one.id === id);
    if (!kept) return { result: undefined };
    const event: EventDraft = { type: 'schedule_unset', ts: Date.now(), id, by };
    return { plan: { events: [event], records: [SCHEDULES.drop(id, kept.token)] }, result: undefined };
  });
}

/** Fires a schedule that is due. Its run, its event and its next instant are one append. A worker with an outdated token does nothing. */
export async function fireSchedule(held: HeldSession, due: DueSchedule): Promise<void> {
  const { log } = held;
  const { kept: record, now, graceMs, as } = due;
  const { id, token, value: kept } = record;
  const { epoch } = log.ref;
  const { schedule } = kept;
  const drop = SCHEDULES.drop(id, token);
  // The schedule belongs to a conversation that is over.
  if (record.epoch !== epoch) return void (await write(log, [], drop));
  const occurrences = await occurrencesOf(schedule, schedule.setAt);
  const most = schedule.missed === 'all' ? MOST_MISSED + 1 : 1;
  const passed = await passedBy(occurrences, { first: schedule.nextAt, time: now, kept: most });
  const fired = instantOf(schedule, passed, now - graceMs);
  const isLast = fired.instant === passed.last.at(-1);
  const nextAt = isLast ? passed.nextAt : occurrences.after(fired.instant);
  const change =
    nextAt === null
      ? drop
      : SCHEDULES.put(id, { ...kept, schedule: { ...schedule, nextAt } }, { epoch, token });
  const event = { ...fired, id, nextAt };
  const fire = (skipped: Pick<FiredInstant, 'skipped'>): Promise<boolean> =>
    write(log, [{ type: 'schedule_fired', ts: Date.now(), ...event, ...skipped }], change);
  if (fired.skipped) return void (await fire({}));
  if ('skipped' in as) return void (await fire(as));
  const drafts = (runId: string): readonly EventDraft[] => [
    { type: 'schedule_fired', runId, ts: Date.now(), ...event },
  ];
  try {
    const accepted = await acceptWith(held, requestOf(kept, as, fired.instant), {
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
  { user, grant }: RunSender,
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
    ...{
      user,
      grant,
      metadata: {},
      clientTools: [],
      parameters: {},
      trigger: { type: 'schedule', id, instant },
    },
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
