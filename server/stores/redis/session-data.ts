import { formatCursor } from '../../../shared/cursor.js';
import { ABOUT_NOTHING, type About } from '../about.js';
import type { NewSession } from '../store.js';
import {
  type Activity,
  type ForkedFrom,
  IDLE,
  type KeptResult,
  type LeftRun,
  type LogHead,
  type RunRecord,
  type SessionRecord,
  type SessionRef,
  type StepRecord,
} from '../stored.js';
import { pairOf } from './keys.js';
import { META } from './scripts/hold.js';

/** The reply to `HMGET`. */
export type Fields = readonly (string | null)[];

/** The fields of a session beside its logs, as Redis has them. */
export type SessionData = Readonly<Record<(typeof META)[number], string | null>>;

/** The fields of a session; null if there is no such session. */
export function sessionDataOf(fields: Fields): SessionData | null {
  const data = Object.fromEntries(META.map((name, i) => [name, fields[i] ?? null]));
  return data.ep === null ? null : (data as SessionData);
}

/** The epoch of a session that begins, and fields of its meta. */
export function encodeBeginning({ epoch, userId, forkedFrom, copied }: NewSession): string {
  const [ab, uid, fk] = [ABOUT_NOTHING, userId, forkedFrom].map((value) => JSON.stringify(value));
  return JSON.stringify({ epoch, after: copied?.after ?? 0, meta: { ab, uid, fk } });
}

const termsOf = (text: string | null): LogHead['terms'] =>
  (JSON.parse(text!) as { term: string; first: number }[]).map(({ term, first }) => ({
    term: Number(term),
    first,
  }));

const activityOf = (text: string | null): Activity => (text ? (JSON.parse(text) as Activity) : IDLE);

/** The head of a log. */
export function headOf(
  data: Pick<SessionData, 'ep' | 'tok' | 'first' | 'seq' | 'tk' | 'cl' | 'st'>,
): LogHead {
  return {
    epoch: data.ep!,
    term: Number(data.tok),
    first: Number(data.first),
    head: Number(data.seq),
    terms: termsOf(data.tk),
    closed: data.cl !== null,
    activity: activityOf(data.st),
  };
}

/** The head of a closed log that another one followed. */
export const closedHeadOf = (row: string): LogHead => headOf(JSON.parse(row) as SessionData);

/** Epochs of closed logs, the oldest first. */
export const epochsInOrder = (rows: readonly string[]): string[] =>
  rows
    .map(closedHeadOf)
    .sort((a, b) => a.term - b.term)
    .map(({ epoch }) => epoch);

/** The record of a session. */
export function recordOf(ref: SessionRef, data: SessionData): SessionRecord {
  const { scope, app, name } = ref;
  return {
    ref: { scope, app, name },
    epoch: data.ep!,
    createdAt: Number(data.cr),
    updatedAt: Number(data.up),
    closed: data.cl !== null,
    ...(data.ab ? (JSON.parse(data.ab) as About) : ABOUT_NOTHING),
    activity: activityOf(data.st),
    ...(data.fk ? { forkedFrom: JSON.parse(data.fk) as ForkedFrom } : {}),
    ...(data.uid !== null && { userId: JSON.parse(data.uid) as string }),
  };
}

/** The size of a session with all its logs, in characters. */
export function sizeOfSession({ cu, cz, mz, pz }: Pick<SessionData, 'cu' | 'cz' | 'mz' | 'pz'>): number {
  return Number(cu) - Number(cz) + Number(mz) + Number(pz);
}

/** A run as it is stored, in JSON. Large numbers are text. Its request goes when it ends. */
interface RunRow {
  readonly epoch: string;
  readonly accepted: number;
  /** JSON, as `result`: raw text may have half a pair of surrogates, which Redis does not read. */
  readonly key?: string;
  readonly hash?: string;
  readonly request?: string;
  /** Absent where the session was closed before the run ended. */
  readonly ending?: { readonly term: string; readonly seq: number; readonly result: string };
}

export function runOf(runId: string, row: string): RunRecord {
  const { key, ending, ...run } = JSON.parse(row) as RunRow;
  return {
    runId,
    ...run,
    ...(key !== undefined && { key: JSON.parse(key) as string }),
    ...(ending && { result: resultOf(run.epoch, ending) }),
  };
}

const resultOf = (epoch: string, { term, seq, result }: NonNullable<RunRow['ending']>): KeptResult => ({
  ...(JSON.parse(result) as Omit<KeptResult, 'cursor'>),
  cursor: formatCursor(epoch, Number(term), seq),
});

/** Open runs with their steps, in the order of their acceptance. @param runs,steps Replies to `HGETALL` */
export function leftRunsOf(runs: readonly string[], steps: readonly string[]): LeftRun[] {
  const left: LeftRun[] = [];
  for (let i = 0; i < runs.length; i += 2) left.push(runOf(runs[i]!, runs[i + 1]!));
  const byRun = new Map<string, StepRecord[]>();
  for (let i = 0; i < steps.length; i += 2) {
    const [runId, number] = pairOf(steps[i]!);
    const step = { runId, number: Number(number), ...(JSON.parse(steps[i + 1]!) as object) } as StepRecord;
    byRun.set(runId, [...(byRun.get(runId) ?? []), step]);
  }
  return left
    .sort((a, b) => a.accepted - b.accepted)
    .map((run) => {
      const own = byRun.get(run.runId)?.sort((a, b) => a.number - b.number);
      return own ? { ...run, steps: own } : run;
    });
}
