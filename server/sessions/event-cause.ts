import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { RunSender } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import type { LogRef } from '../stores/stored.js';

/** Events that are about to be appended, and their place. */
export interface EventCause {
  readonly log: LogRef;
  readonly term: number;
  /** Canonical key. */
  readonly sessionId: string;
  /** The place before the first of the events. */
  readonly head: number;
  readonly events: readonly GatewayEvent[];
  readonly before: SessionState;
  readonly after: SessionState;
  /** The sender of a run's message; null if unknown. */
  senderOf(runId: string): RunSender | null;
  /** A time of this process by the store's clock. */
  storeTime(at: number): number;
}

/** Makes the records that events bring, for the same append. */
export type RecordsOfEvents = (cause: EventCause) => readonly RecordChange[];
