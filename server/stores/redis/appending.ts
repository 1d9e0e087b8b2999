import { type AppendOptions, type EventRecord, placeOfAccepted } from '../append.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { encodeBatch } from './events.js';
import type { Keys } from './keys.js';
import { encodeChanges } from './records.js';
import type { RewrittenEntries } from './rewriting.js';
import { encodeRows, NO_ROWS, type PutRows } from './rows.js';
import type { ScriptCall } from './script.js';
import { APPEND, COMMIT, ERASE } from './scripts/append.js';

const argsOf = ({ epoch }: LogRef, { term, batch }: AppendOptions, events: readonly EventRecord[]) => ({
  epoch,
  term,
  batch,
  count: events.length,
  entry: encodeBatch(events),
  size: sizeOf(events),
});

/** An append that changes only its log. */
export interface PlainAppend {
  readonly log: LogRef;
  readonly events: readonly EventRecord[];
  readonly options: AppendOptions;
}

/** Encodes appends of several logs; of one partition in a Cluster. */
export function encodePlain(keys: Keys, appends: readonly PlainAppend[]): ScriptCall {
  const names: string[] = [];
  const values: string[] = [];
  for (const { log, events, options } of appends) {
    const session = keys.session(log);
    const { epoch, term, batch, count, entry, size } = argsOf(log, options, events);
    names.push(session.meta, keys.stream(session, log.epoch), session.news);
    values.push(epoch, String(term), String(batch), String(count), entry, String(size));
  }
  return APPEND.call({}, {}, { keys: names, args: values });
}

/** The parts of an append for which the store was read before. */
interface Prepared {
  /** The messages of `options` as rows. */
  readonly rows: PutRows;
  readonly anew: RewrittenEntries | undefined;
}

/** Encodes an append that changes more than its log. */
export function encodeAppend(
  keys: Keys,
  log: LogRef,
  events: readonly EventRecord[],
  options: AppendOptions,
  prepared: Prepared,
): ScriptCall {
  const session = keys.session(log);
  const { events: stream, rows: rowsKey, replies, checkpoint } = keys.log(session, log.epoch);
  const args = argsOf(log, options, events);
  const { sid } = session;
  const changes = JSON.stringify(changesOf(events, options, prepared));
  return COMMIT.call(
    { events: stream, rows: rowsKey, replies, checkpoint, ...session },
    { sid, changes, ...args },
    { args: encodeRows(prepared.rows.messages) },
  );
}

/** The changes that come with a batch besides its events. Offsets count from 1 within it. JSON has no field for what is undefined. */
function changesOf(
  events: readonly EventRecord[],
  { opens, ends = [], steps = [], activity, about, records = [], close }: AppendOptions,
  { rows, anew }: Prepared,
) {
  const { usedAt, ...said } = about ?? {};
  return {
    opens: opens && {
      runId: opens.runId,
      offset: placeOfAccepted(events, 1),
      run: { key: JSON.stringify(opens.key), hash: opens.hash, request: opens.request },
    },
    records: encodeChanges(records),
    steps: steps.map(({ runId, number, ...step }) => ({ runId, number, row: JSON.stringify(step) })),
    ends: ends.map(({ runId, result }) => ({
      runId,
      offset: offsetOfEnd(events, runId),
      result: JSON.stringify(result),
    })),
    meta: {
      st: JSON.stringify(activity),
      bz: activity && (activity.parked ? 'p' : activity.status === 'idle' ? '0' : '1'),
      ab: about && JSON.stringify(said),
    },
    usedAt,
    close,
    anew,
    grown: rows === NO_ROWS ? undefined : rows.grown,
  };
}

/** The place of a run's `message_end` within a batch, or of the batch's last event if it has none. */
const offsetOfEnd = (events: readonly EventRecord[], runId: string): number =>
  events.findLastIndex((event) => event.type === 'message_end' && event.runId === runId) + 1 || events.length;

/** Encodes an append that erases its session. @param past Epochs of its closed logs */
export function encodeErase(
  keys: Keys,
  log: LogRef,
  events: readonly EventRecord[],
  options: AppendOptions,
  left: string,
  past: readonly string[],
): ScriptCall {
  const session = keys.session(log);
  const notice = keys.log(session, left).events;
  return ERASE.call(
    { ...session, events: keys.log(session, log.epoch).events, notice },
    {
      sid: session.sid,
      left,
      past: past.length,
      ...argsOf(log, options, events.slice(-1)),
      count: events.length,
    },
    { keys: keys.logs(session, [log.epoch, ...past]) },
  );
}
