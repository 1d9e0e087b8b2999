import { formatCursor } from '../../shared/cursor.js';
import type { GatewayEvent, TransientEventData, TransientEventType } from '../../shared/events.js';
import type { EventForm, Origin } from '../log/batch.js';
import { answeringAfter, type OpenAnswer } from '../log/open-answer.js';
import type { StoredEvent } from '../stores/stored.js';

/** A wire form of events for one kind of connection. */
export interface WireForm<P> extends EventForm<P> {
  /** An event of this connection only. `id` is the place from which a client resumes. */
  transient<T extends TransientEventType>(type: T, data: TransientPayload<T>, id?: string): P;
}

export type TransientPayload<T extends TransientEventType> = TransientEventData[T] & {
  readonly sessionId?: string;
  readonly cursor?: string;
};

/** Receives a stored event on its way to the wire. `data` is JSON. */
type TakeEvent = (type: string, cursor: string, data: string) => void;

/**
 * Encodes stored events for the wire. The event's id carries its cursor. A delta omits its session and answer if the delta before has the
 * same. The cursors show that both are in one log.
 *
 * @param whole Whether each event names its session and cursor, for streams without such ids.
 */
export function eachEvent(
  events: readonly StoredEvent[],
  { sessionId, epoch }: Origin,
  { known, whole = false }: { readonly known: OpenAnswer | null; readonly whole?: boolean },
  take: TakeEvent,
): void {
  let answering = known;
  for (const event of events) {
    const { type, term, seq } = event;
    const cursor = formatCursor(epoch, term, seq);
    const repeats = answering?.has(event) ?? false;
    const body = repeats ? answering!.rest(event) : event.body;
    let data = body;
    if (whole) data = `{"sessionId":"${sessionId}","cursor":"${cursor}",${body.slice(1)}`;
    else if (!repeats) data = `{"sessionId":"${sessionId}",${body.slice(1)}`;
    take(type, cursor, data);
    if (!repeats) answering = answeringAfter(event, answering);
  }
}

/** The data of an event of one connection, without a cursor if the id carries it. */
export function transientData<T extends TransientEventType>(data: TransientPayload<T>, id?: string): object {
  const { cursor, ...rest } = data;
  return { ts: Date.now(), ...(cursor === id || cursor === undefined ? rest : { cursor, ...rest }) };
}

/** Events as objects, for readers in this process. */
export const objectForm: WireForm<readonly GatewayEvent[]> = {
  events: (events, { sessionId, epoch }) =>
    events.map(({ type, term, seq, body }) => {
      const cursor = formatCursor(epoch, term, seq);
      return { type, sessionId, cursor, ...JSON.parse(body) } as GatewayEvent;
    }),
  transient: (type, data) => [{ type, ts: Date.now(), ...data } as unknown as GatewayEvent],
};
