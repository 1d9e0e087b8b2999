import type { TransientEventData, TransientEventType } from '../../shared/events.js';
import type { StoredEvent } from '../stores/store.js';

/** How a kind of connection writes events. One object per form: batches cache what they encoded by it. */
export interface WireForm<P> {
  /** Stored events, joined into one payload. */
  events(events: readonly StoredEvent[], sessionId: string, epoch: string): P;
  /** An event of this connection alone. `id` is the position a client resumes from. */
  transient<T extends TransientEventType>(type: T, data: TransientPayload<T>, id?: string): P;
}

export type TransientPayload<T extends TransientEventType> = TransientEventData[T] & {
  readonly sessionId?: string;
  readonly cursor?: string;
};

/** The wire JSON of a stored event: its body with the fields that its place gives it. */
export function eventJson(event: StoredEvent, sessionId: string, epoch: string): string {
  return `{"sessionId":"${sessionId}","cursor":"${epoch}.${event.term}.${event.seq}",${event.body.slice(1)}`;
}
