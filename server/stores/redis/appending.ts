import { type AppendOptions, type EventRecord, isPlain, placeOfAccepted } from '../append.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { encodeBatch } from './events.js';
import type { Keys } from './keys.js';
import { encodeChanges } from './records.js';
import { encodeRows, NO_ROWS, type PutRows } from './rows.js';
import type { Script } from './script.js';
import { APPEND, COMMIT, ERASE } from './scripts/append.js';
import { openRowOf } from './session-data.js';

/** A batch as it is sent. A repetition sends the same bytes. */
export interface SentBatch {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** The size of its events and messages, in characters. */
  readonly size: number;
  /** The run that begins with it. */
  readonly runId?: string | undefined;
}

/** Place of a run's `message_end` within a batch, from 1; 0 without one. */
function offsetOfEnd(events: readonly EventRecord[], runId: string): number {
  return events.findLastIndex((event) => event.type === 'message_end' && event.runId === runId) + 1;
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
  const head = [session.meta, own.events, session.news];
  const place = [
    log.epoch,
    String(term),
    String(batch),
    String(events.length),
    encodeBatch(events),
    String(size),
  ];
  if (isPlain(options)) return { script: APPEND, keys: head, args: place, size };
  const { open, ended, byKey, steps, records } = session;
  const part = keys.partition(session.partition);
  return {
    script: COMMIT,
    keys: [
      ...[...head, open, ended, byKey, steps, part.runs, part.logs, part.unfinished, part.busy],
      ...[part.held, records, part.due, own.rows, own.replies],
    ],
    args: [...place, String(Date.now()), session.sid, ...changesOf(events, options), ...putOf(rows)],
    size: size + rows.grown,
  };
}

/** The changes that come with a batch besides its events, in the order in which the script takes them. */
function changesOf(
  events: readonly EventRecord[],
  { opens, ends = [], steps = [], activity, about, records = [], close }: AppendOptions,
): string[] {
  const { usedAt, ...said } = about ?? {};
  return [
    ...(opens
      ? [
          ...['1', opens.runId, opens.key === undefined ? '' : JSON.stringify(opens.key)],
          ...[openRowOf(opens.key, opens.hash, opens.request), String(placeOfAccepted(events, 1))],
        ]
      : ['']),
    ...encodeChanges(records),
    String(steps.length),
    ...steps.flatMap(({ runId, number, ...step }) => [runId, String(number), JSON.stringify(step)]),
    String(ends.length),
    ...ends.flatMap(({ runId, result }) => [
      runId,
      String(offsetOfEnd(events, runId)),
      JSON.stringify(result),
    ]),
    activity ? JSON.stringify(activity) : '',
    activity?.parked ? 'p' : activity && activity.status !== 'idle' ? '1' : '0',
    about ? JSON.stringify(said) : '',
    usedAt === undefined ? '' : String(usedAt),
    close ? '1' : '',
  ];
}

const putOf = ({ grown, messages }: PutRows): readonly string[] => [String(grown), ...encodeRows(messages)];

/** The arguments of an append that erases its session. @param past Epochs of its closed logs */
export function encodeErase(
  keys: Keys,
  log: LogRef,
  events: readonly EventRecord[],
  { term, batch }: AppendOptions,
  erase: string,
  past: readonly string[],
): SentBatch {
  const session = keys.session(log);
  const last = events.slice(-1);
  const place = [log.epoch, String(term), String(batch), String(events.length), '', '0'];
  const left = [erase, encodeBatch(last), String(sizeOf(last))];
  return {
    script: ERASE,
    keys: keysToDrop(keys, log, erase, [log.epoch, ...past]),
    args: [...place, String(Date.now()), session.sid, ...left, String(past.length)],
    size: 0,
  };
}

/** Keys of the scripts that drop a session. @param left Epoch of the log that replaces it */
export function keysToDrop(keys: Keys, log: LogRef, left: string, epochs: readonly string[]): string[] {
  const session = keys.session(log);
  const { meta, news, open, ended, byKey, steps, closed, records } = session;
  const { runs, logs, unfinished, busy, held, due } = keys.partition(session.partition);
  const own = [meta, keys.log(session, log.epoch).events, news, open, ended, byKey, steps, closed];
  const dropped = epochs.flatMap((epoch) => {
    const { events, checkpoint, rows, replies } = keys.log(session, epoch);
    return [events, checkpoint, rows, replies];
  });
  const events = keys.log(session, left).events;
  return [...own, runs, logs, unfinished, busy, events, held, records, due, ...dropped];
}
