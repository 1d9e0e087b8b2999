import { type AppendOptions, type EventRecord, isPlain, placeOfAccepted } from '../append.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { encodeBatch } from './events.js';
import type { Keys } from './keys.js';
import { encodeChanges } from './records.js';
import { encodeRows, NO_ROWS, type PutRows } from './rows.js';
import type { Call } from './script.js';
import { APPEND, COMMIT, ERASE } from './scripts/append.js';

/** A batch as it is sent. A repetition sends the same bytes. */
export interface SentBatch {
  readonly call: Call;
  /** The size of its events and messages, in characters. */
  readonly size: number;
}

/** The arguments of an append. Most appends are pieces of answers, which need few. @param rows The messages of `options` as rows */
export function encodeAppend(
  keys: Keys,
  log: LogRef,
  events: readonly EventRecord[],
  options: AppendOptions,
  rows: PutRows = NO_ROWS,
): SentBatch {
  const session = keys.session(log);
  const own = keys.log(session, log.epoch);
  const size = sizeOf(events);
  const { term, batch } = options;
  const entry = encodeBatch(events);
  const args = { epoch: log.epoch, term, batch, count: events.length, entry, size };
  if (isPlain(options)) {
    const { meta, news } = session;
    return { call: APPEND.call({ meta, events: own.events, news }, args), size };
  }
  const changes = JSON.stringify(changesOf(events, options, rows));
  const call = COMMIT.call(
    { ...session, ...own },
    { ...args, now: Date.now(), sid: session.sid, changes },
    { args: encodeRows(rows.messages) },
  );
  return { call, size: size + rows.grown };
}

/** The changes that come with a batch besides its events. Offsets count from 1 within it. */
function changesOf(
  events: readonly EventRecord[],
  { opens, ends = [], steps = [], activity, about, records = [], close }: AppendOptions,
  rows: PutRows,
) {
  const { usedAt, ...said } = about ?? {};
  return {
    opens: opens && {
      runId: opens.runId,
      offset: placeOfAccepted(events, 1),
      run: { key: toJson(opens.key), hash: opens.hash, request: opens.request },
    },
    records: encodeChanges(records),
    steps: steps.map(({ runId, number, ...step }) => ({ runId, number, row: JSON.stringify(step) })),
    ends: ends.map(({ runId, result }) => ({
      runId,
      offset: offsetOfEnd(events, runId),
      result: JSON.stringify(result),
    })),
    meta: {
      st: toJson(activity),
      bz: activity && (activity.parked ? 'p' : activity.status === 'idle' ? '0' : '1'),
      ab: about && JSON.stringify(said),
    },
    usedAt,
    close,
    grown: rows === NO_ROWS ? undefined : rows.grown,
  };
}

const toJson = (value: unknown): string | undefined => JSON.stringify(value);

/** The place of a run's `message_end` within a batch, or of the batch's last event if it has none. */
const offsetOfEnd = (events: readonly EventRecord[], runId: string): number =>
  events.findLastIndex((event) => event.type === 'message_end' && event.runId === runId) + 1 || events.length;

/** The arguments of an append that erases its session. @param past Epochs of its closed logs */
export function encodeErase(
  keys: Keys,
  log: LogRef,
  events: readonly EventRecord[],
  { term, batch }: AppendOptions,
  left: string,
  past: readonly string[],
): Call {
  const session = keys.session(log);
  const last = events.slice(-1);
  const notice = keys.log(session, left).events;
  return ERASE.call(
    { ...session, events: keys.log(session, log.epoch).events, notice },
    {
      ...{
        epoch: log.epoch,
        term,
        batch,
        count: events.length,
        entry: encodeBatch(last),
        size: sizeOf(last),
      },
      ...{ now: Date.now(), sid: session.sid, left, past: past.length },
    },
    { keys: keys.logs(session, [log.epoch, ...past]) },
  );
}
