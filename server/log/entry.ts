import { type EventDraft, type GatewayEvent, isDelta } from '../../shared/events.js';
import { FEATURE_EVENTS } from '../../shared/features.js';
import { jsonText } from '../schema/json-text.js';
import type { EventRecord } from '../stores/append.js';
import type { StoredEvent } from '../stores/stored.js';

/** An event on its way into the log, as the stored record and as the fold takes it. */
export interface Entry {
  readonly record: EventRecord;
  readonly event: GatewayEvent;
}

export const recordOf = ({ record }: Entry): EventRecord => record;

/** Events with values from an app or a caller, which may change them afterwards. The fold gets a copy. */
const FOREIGN: ReadonlySet<string> = new Set([
  'message_accepted',
  'run_spawned',
  'run_steered',
  'message_replaced',
  'history_moved',
  'session_updated',
  'tool_use',
  'tool_confirmation_required',
  'tool_confirmation_result',
  'input_required',
  'input_result',
  'tool_result',
  'data',
  'custom',
  ...Object.entries(FEATURE_EVENTS).flatMap(([type, { foreign }]) => (foreign ? [type] : [])),
  'channel',
]);

/** @throws TypeError if a value of the event is not JSON */
export function toEntry(draft: EventDraft): Entry {
  const { type, ts, runId } = draft;
  const record = { seq: 0, term: 0, type, ts, runId, body: bodyOf(draft) };
  return { record, event: FOREIGN.has(type) ? parseEvent(record) : (draft as GatewayEvent) };
}

function bodyOf(draft: EventDraft): string {
  // Fast path: nearly all events are deltas, and only their text needs escaping.
  if (isDelta(draft)) {
    const { runId, ts, delta, index } = draft;
    return `{"runId":"${runId}","ts":${ts},"delta":${JSON.stringify(delta)},"index":${index}}`;
  }
  const { type, ...data } = draft;
  return jsonText(data)!;
}

/** The event of a stored record, as the fold takes it. */
export function parseEvent(record: StoredEvent): GatewayEvent {
  return { type: record.type, ...JSON.parse(record.body) } as GatewayEvent;
}
