import type { GatewayEvent } from '../../shared/events.js';
import { deliveryFaults } from '../../testing/index.js';
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

const eventsOf = (raw: readonly RawEvent[]): GatewayEvent[] =>
  raw.map(({ event, data }) => ({ ...data, type: event }) as GatewayEvent);

/** Says which promises a history breaks. */
export function violations({ log, readers, acknowledged, refused }: SessionHistory): string[] {
  const history = { log: eventsOf(log), readers: readers.map(eventsOf), acknowledged };
  return [...deliveryFaults(history), ...refused];
}
