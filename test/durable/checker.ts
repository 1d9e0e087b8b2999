import { isDeepStrictEqual } from 'node:util';
import type { RawEvent } from '../support/sse-client.js';

/** What clients saw of one session while its gateway was killed again and again. */
export interface SessionHistory {
  readonly id: string;
  /** Run ids that were answered for each idempotency key. */
  readonly acknowledged: Map<string, Set<string>>;
  /** Sends that were answered with anything but acceptance or a request to come back. */
  readonly refused: readonly string[];
  /** What each reader received, in order. */
  readonly readers: readonly (readonly RawEvent[])[];
  /** The log as it is in the end. */
  log: readonly RawEvent[];
}

interface Place {
  readonly epoch: string;
  readonly term: number;
  readonly seq: number;
}

const placeOf = (event: RawEvent): Place => {
  const [epoch = '', term, seq] = (event.data.cursor as string).split('.');
  return { epoch, term: Number(term), seq: Number(seq) };
};

/** Says which promises a history breaks. */
export function violations(history: SessionHistory): string[] {
  const readers = history.readers.flatMap((events, i) => checkReader(history, events, i));
  return [...checkLog(history), ...checkRuns(history), ...checkKeys(history), ...readers, ...history.refused];
}

function checkLog({ log }: SessionHistory): string[] {
  const found: string[] = [];
  for (const [i, event] of log.entries()) {
    const { epoch, term, seq } = placeOf(event);
    if (seq !== i + 1) found.push(`log: place ${i + 1} has seq ${seq}`);
    if (i === 0) continue;
    const before = placeOf(log[i - 1]!);
    if (epoch !== before.epoch) found.push(`log: epoch changes at ${seq}`);
    if (term < before.term) found.push(`log: term falls at ${seq}`);
  }
  return found;
}

function checkRuns({ log }: SessionHistory): string[] {
  const found: string[] = [];
  const count = (type: string, runId: string): number =>
    log.filter(({ event, data }) => event === type && data.runId === runId).length;
  for (const runId of new Set(log.flatMap(({ data }) => data.runId ?? []))) {
    if (count('message_accepted', runId) !== 1)
      found.push(`run: ${runId} was accepted ${count('message_accepted', runId)} times`);
    if (count('message_start', runId) > 1)
      found.push(`run: ${runId} began ${count('message_start', runId)} times`);
    if (count('message_end', runId) !== 1)
      found.push(`run: ${runId} ended ${count('message_end', runId)} times`);
    const events = log.filter(({ data }) => data.runId === runId);
    if (events.at(-1)?.event !== 'message_end') found.push(`run: ${runId} goes on after its end`);
    const text = events
      .flatMap(({ event, data }) => (event === 'content_delta' ? [data.delta] : []))
      .join('');
    const answer = (events.at(-1)?.data.message?.content ?? [])
      .map((block: { text?: string }) => block.text)
      .join('');
    if (events.at(-1)?.event === 'message_end' && text !== answer)
      found.push(`run: the answer of ${runId} is not what was streamed`);
  }
  return found;
}

function checkKeys({ log, acknowledged }: SessionHistory): string[] {
  const found: string[] = [];
  const accepted = log.filter(({ event }) => event === 'message_accepted');
  for (const [key, runIds] of acknowledged) {
    const logged = accepted.filter(({ data }) => data.key === key).map(({ data }) => data.runId as string);
    if (logged.length > 1) found.push(`key: ${key} ran ${logged.length} times`);
    if (runIds.size > 1) found.push(`key: ${key} was answered with ${runIds.size} runs`);
    for (const runId of runIds)
      if (!logged.includes(runId)) found.push(`key: acknowledged run ${runId} of ${key} is not in the log`);
  }
  return found;
}

function checkReader({ log }: SessionHistory, received: readonly RawEvent[], reader: number): string[] {
  const found: string[] = [];
  let next = 1;
  for (const { event, data } of received) {
    if (event === 'gap') found.push(`reader ${reader}: gap ${data.reason}, though nothing may be lost`);
    if (['connected', 'heartbeat', 'gap', 'snapshot'].includes(event)) continue;
    const { seq } = placeOf({ event, data });
    if (seq > next) found.push(`reader ${reader}: ${seq} came after ${next - 1}`);
    next = Math.max(next, seq + 1);
    const kept = log[seq - 1];
    if (!kept || kept.event !== event || !isDeepStrictEqual(kept.data, data)) {
      found.push(`reader ${reader}: what it saw at ${data.cursor} is not in the log`);
    }
  }
  if (next !== log.length + 1) found.push(`reader ${reader}: it ends at ${next - 1} of ${log.length}`);
  return found;
}
