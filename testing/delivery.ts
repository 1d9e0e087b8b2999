import { isDeepStrictEqual } from 'node:util';
import type { GatewayEvent, LoggedEvent, Message } from '../client/index.js';
import { parseCursor } from '../shared/cursor.js';
import { isLoggedType } from '../shared/schemas/events.js';

/** The observations of one session. */
export interface DeliveryHistory {
  /** All events of the session, as they are at the end. */
  readonly log: readonly GatewayEvent[];
  /** The events that each reader got from the first on, in order, with those that a reconnect repeated. */
  readonly readers?: readonly (readonly GatewayEvent[])[] | undefined;
  /** Run ids in the answers to senders, by idempotency key. */
  readonly acknowledged?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
}

/**
 * Describes each broken promise of delivery; none if all were kept. The promises: one dense log; one acceptance and one end a run, with the streamed
 * answer; one run a key; every reader got all events of the log, in order.
 */
export function deliveryFaults({ log, readers = [], acknowledged = new Map() }: DeliveryHistory): string[] {
  const logged = log.filter((event): event is LoggedEvent => isLoggedType(event.type));
  return [
    ...faultsOfLog(logged),
    ...faultsOfRuns(logged),
    ...faultsOfKeys(logged, acknowledged),
    ...readers.flatMap((events, at) => faultsOfReader(logged, events, at)),
  ];
}

const placeOf = ({ cursor }: { readonly cursor?: string }) =>
  parseCursor(cursor ?? '') ?? { epoch: '', term: 0, seq: 0 };

function faultsOfLog(log: readonly LoggedEvent[]): string[] {
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

function faultsOfRuns(log: readonly LoggedEvent[]): string[] {
  const found: string[] = [];
  const count = (type: string, runId: string): number =>
    log.filter((event) => event.type === type && event.runId === runId).length;
  for (const runId of new Set(log.flatMap((event) => event.runId ?? []))) {
    const [accepted, began, ended] = ['message_accepted', 'message_start', 'message_end'].map((type) =>
      count(type, runId),
    ) as [number, number, number];
    if (accepted !== 1) found.push(`run: ${runId} was accepted ${accepted} times`);
    if (began > 1) found.push(`run: ${runId} began ${began} times`);
    if (ended !== 1) found.push(`run: ${runId} ended ${ended} times`);
    const events = log.filter((event) => event.runId === runId);
    const last = events.at(-1)!;
    if (last.type !== 'message_end') found.push(`run: ${runId} goes on after its end`);
    else if (streamed(events) !== saidIn(last.message))
      found.push(`run: the answer of ${runId} is not what was streamed`);
  }
  return found;
}

const streamed = (events: readonly LoggedEvent[]): string =>
  events.map((event) => (event.type === 'content_delta' ? event.delta : '')).join('');
const saidIn = ({ content }: Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

function faultsOfKeys(
  log: readonly LoggedEvent[],
  acknowledged: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const found: string[] = [];
  const accepted = log.filter((event) => event.type === 'message_accepted');
  for (const [key, runIds] of acknowledged) {
    const logged = accepted.filter((event) => event.key === key).map(({ runId }) => runId);
    if (logged.length > 1) found.push(`key: ${key} ran ${logged.length} times`);
    if (runIds.size > 1) found.push(`key: ${key} was answered with ${runIds.size} runs`);
    for (const runId of runIds)
      if (!logged.includes(runId)) found.push(`key: acknowledged run ${runId} of ${key} is not in the log`);
  }
  return found;
}

function faultsOfReader(
  log: readonly LoggedEvent[],
  received: readonly GatewayEvent[],
  reader: number,
): string[] {
  const found: string[] = [];
  let next = 1;
  for (const event of received) {
    if (event.type === 'gap') found.push(`reader ${reader}: gap ${event.reason}, though nothing may be lost`);
    if (!isLoggedType(event.type)) continue;
    const { seq } = placeOf(event);
    if (seq > next) found.push(`reader ${reader}: ${seq} came after ${next - 1}`);
    next = Math.max(next, seq + 1);
    if (!isDeepStrictEqual(log[seq - 1], event))
      found.push(`reader ${reader}: what it saw at ${event.cursor} is not in the log`);
  }
  if (next !== log.length + 1) found.push(`reader ${reader}: it ends at ${next - 1} of ${log.length}`);
  return found;
}
