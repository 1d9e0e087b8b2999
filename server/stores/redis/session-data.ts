import { formatCursor } from '../../../shared/cursor.js';
import type { RunResult } from '../../../shared/operation-types.js';
import { ABOUT_NOTHING, type About } from '../about.js';
import type { NewSession } from '../store.js';
import {
  type Activity,
  type ForkedFrom,
  IDLE,
  type LeftRun,
  type LogHead,
  type RunRecord,
  type SessionRecord,
  type SessionRef,
  type StepRecord,
} from '../stored.js';
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

/** The epoch of a session that begins, and the fields of its meta, after their number. */
export function encodeBeginning({ epoch, userId, forkedFrom }: NewSession): readonly string[] {
  const fields = [
    ...['mz', '0', 'ab', JSON.stringify(ABOUT_NOTHING)],
    ...(userId === undefined ? [] : ['uid', userId]),
    ...(forkedFrom ? ['fk', JSON.stringify(forkedFrom)] : []),
  ];
  return [epoch, String(fields.length / 2), ...fields];
}

function termsOf(text: string | null): LogHead['terms'] {
  if (!text) return [];
  return text.split(',').map((pair) => {
    const [term, first] = pair.split(':');
    return { term: Number(term), first: Number(first) };
  });
}

const activityOf = (text: string | null): Activity => (text ? (JSON.parse(text) as Activity) : IDLE);

/** The head of the present log. */
export function headOf(data: SessionData): LogHead {
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
export function closedHeadOf(epoch: string, text: string): LogHead {
  const [first, head, , , tk = '', ...activity] = text.split('\n');
  const terms = termsOf(tk);
  return {
    epoch,
    term: terms.at(-1)?.term ?? 0,
    first: Number(first),
    head: Number(head),
    terms,
    closed: true,
    activity: activityOf(activity.join('\n')),
  };
}

/** Epochs of closed logs, the oldest first. @param pairs The reply to `HGETALL` */
export function epochsInOrder(pairs: readonly string[]): string[] {
  const logs: { epoch: string; term: number }[] = [];
  for (let i = 0; i < pairs.length; i += 2)
    logs.push({ epoch: pairs[i]!, term: closedHeadOf(pairs[i]!, pairs[i + 1]!).term });
  return logs.sort((a, b) => a.term - b.term).map(({ epoch }) => epoch);
}

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
    ...(data.uid !== null && { userId: data.uid }),
  };
}

/** The size of a session with all its logs, in characters. */
export function sizeOfSession({ cu, cz, mz, pz }: Pick<SessionData, 'cu' | 'cz' | 'mz' | 'pz'>): number {
  return Number(cu) - Number(cz) + Number(mz) + Number(pz);
}

/** Cuts lines off the start of a text. The last part is the rest. */
function linesOf(text: string, count: number): string[] {
  const lines: string[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const end = text.indexOf('\n', at);
    lines.push(text.slice(at, end));
    at = end + 1;
  }
  return [...lines, text.slice(at)];
}

/** The row of an open run, without its epoch and place, which the store adds. */
export function openRowOf(key: string | undefined, hash: string | undefined, request: string): string {
  return `${key === undefined ? '' : JSON.stringify(key)}\n${hash ?? ''}\n${request}`;
}

function sentOf(runId: string, [epoch, accepted, key, hash]: readonly string[]): RunRecord {
  return {
    runId,
    ...(key && { key: JSON.parse(key) as string, hash: hash! }),
    epoch: epoch!,
    accepted: Number(accepted),
  };
}

/** An open run, or one that ended; '' for none. */
export function runOf(runId: string, open: string, ended: string): RunRecord | null {
  if (open !== '') {
    const lines = linesOf(open, 4);
    return { ...sentOf(runId, lines), request: lines[4]! };
  }
  if (ended === '') return null;
  const lines = linesOf(ended, 8);
  const [epoch, term, seq, result] = lines.slice(5) as [string, string, string, string];
  if (result === '') return sentOf(runId, lines);
  const cursor = formatCursor(epoch, Number(term), Number(seq));
  return {
    ...sentOf(runId, lines),
    result: { ...(JSON.parse(result) as Omit<RunResult, 'cursor'>), cursor },
  };
}

/** Open runs with their steps, in the order of their acceptance. @param runs,steps Replies to `HGETALL` */
export function leftRunsOf(runs: readonly string[], steps: readonly string[]): LeftRun[] {
  const left: LeftRun[] = [];
  for (let i = 0; i < runs.length; i += 2) left.push(runOf(runs[i]!, runs[i + 1]!, '')!);
  const byRun = new Map<string, StepRecord[]>();
  for (let i = 0; i < steps.length; i += 2) {
    const [runId, number] = linesOf(steps[i]!, 1) as [string, string];
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
