import type { TransientEventType } from '../../../shared/events.js';
import { eventJson, type TransientPayload, type WireForm } from '../../delivery/wire-form.js';
import type { StoredEvent } from '../../stores/store.js';

/**
 * Events as frames.
 *
 * @param join Puts the JSON texts of frames on one kind of wire, in one piece that all its clients share.
 */
export function frameForm<P>(join: (texts: readonly string[]) => P): WireForm<P> {
  return {
    events: (events, sessionId, epoch) => join(events.map((event) => eventFrame(event, sessionId, epoch))),
    transient: (type, data, id) => join([transientFrame(type, data, id)]),
  };
}

// Written by hand: this runs for every event, whose body is JSON already.
function eventFrame(event: StoredEvent, sessionId: string, epoch: string): string {
  const data = eventJson(event, sessionId, epoch);
  return `{"type":"event","id":"${epoch}.${event.term}.${event.seq}","event":"${event.type}","sessionId":"${sessionId}","data":${data}}`;
}

function transientFrame<T extends TransientEventType>(
  type: T,
  data: TransientPayload<T>,
  id?: string,
): string {
  const { sessionId } = data;
  return JSON.stringify({ type: 'event', id, event: type, sessionId, data: { ts: Date.now(), ...data } });
}
