import type { History, Reading } from '../history.js';
import { canonical, logsOf, type SessionLog, seqOf } from './facts.js';

/** Readers are shown the log: in order, without a hole, by the SDK each event once; nothing that is in no log; no gap where nothing was lost. */
export function* judgeReadings(history: History): Generator<string> {
  const logs = logsOf(history);
  const contents = new Map<string, string>();
  for (const reading of history.readings) {
    const { reader, failed, sessionId, shown } = reading;
    if (failed !== undefined) yield `${reader} failed: ${failed}`;
    yield* judgeReading(history, reading, logs.get(sessionId));
    for (const item of shown) {
      if (item.kind !== 'event') continue;
      const { cursor } = item.event;
      const content = canonical(item.event);
      const other = contents.get(cursor);
      if (other === undefined) contents.set(cursor, content);
      else if (other !== content)
        yield `${reader} was shown ${cursor} with another content: ${content} | ${other}`;
    }
  }
}

function* judgeReading(
  { costs }: History,
  { reader, by, shown }: Reading,
  log: SessionLog | undefined,
): Generator<string> {
  /** The last number that was shown, or led to by a snapshot. */
  let at = 0;
  let isFollowedByGap = shown.findLastIndex(({ kind }) => kind === 'gap');
  for (const [index, item] of shown.entries()) {
    if (index >= isFollowedByGap) isFollowedByGap = -1;
    switch (item.kind) {
      case 'connected': {
        const seq = item.after === '' ? 0 : seqOf(item.after);
        if (item.after !== '' && seq !== at && at !== 0)
          yield `${reader} was led to ${item.after} when the last it was shown was number ${at}`;
        at = seq;
        break;
      }
      case 'gap':
        if (!costs.forgotten) yield `${reader} was told of a gap (${item.reason}) where nothing was lost`;
        break;
      case 'snapshot':
        at = item.cursor === null ? 0 : seqOf(item.cursor);
        break;
      case 'event': {
        const { cursor } = item.event;
        const seq = seqOf(cursor);
        if (seq <= at) yield `${reader} (${by}) was shown ${cursor} after number ${at}`;
        else if (seq > at + 1) yield `${reader} was shown ${cursor} after number ${at}: a hole`;
        at = seq;
        const logged = log?.byCursor.get(cursor);
        if (!logged) {
          if (!costs.forgotten || isFollowedByGap < 0)
            yield `${reader} was shown ${cursor}, which is in no log`;
        } else if (canonical(logged) !== canonical(item.event))
          yield `${reader} was shown ${cursor} with another content than the log: ${canonical(item.event)} | ${canonical(logged)}`;
      }
    }
  }
  const last = log?.events.length ?? 0;
  if (at !== last) yield `${reader} was shown everything up to number ${at} of ${last}`;
}
