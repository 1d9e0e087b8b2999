import type { LoggedEventType } from '../../../shared/events.js';
import type { News } from '../append.js';
import type { StoredEvent } from '../stored.js';

/** Writes a batch as text: a line for each event with type, time, run and body. JSON has neither line breaks nor tabs of its own. */
export function encodeBatch(events: readonly StoredEvent[]): string {
  let text = '';
  for (const { type, ts, runId, body } of events)
    text += `${text === '' ? '' : '\n'}${type}\t${ts}\t${runId ?? ''}\t${body}`;
  return text;
}

/** Reads a batch. @param last Place of its last event */
export function decodeBatch(text: string, term: number, last: number): StoredEvent[] {
  const lines = text.split('\n');
  const first = last - lines.length + 1;
  return lines.map((line, i) => {
    const afterType = line.indexOf('\t');
    const afterTime = line.indexOf('\t', afterType + 1);
    const afterRun = line.indexOf('\t', afterTime + 1);
    return {
      seq: first + i,
      term,
      type: line.slice(0, afterType) as LoggedEventType,
      ts: Number(line.slice(afterType + 1, afterTime)),
      runId: line.slice(afterTime + 1, afterRun) || undefined,
      body: line.slice(afterRun + 1),
    };
  });
}

/** Reads the news of a session for its followers: epoch, term and last place of a batch, and the batch. Undefined tells them to look themselves. */
export function decodeNews(text: string): News | undefined {
  const end = text.indexOf('\n');
  if (end < 0) return undefined;
  const [epoch = '', term, last] = text.slice(0, end).split(' ');
  return { epoch, events: decodeBatch(text.slice(end + 1), Number(term), Number(last)) };
}
