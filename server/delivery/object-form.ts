import type { GatewayEvent } from '../../shared/events.js';
import { eventJson, type WireForm } from './wire-form.js';

/** Events as objects, for readers in this process. */
export const objectForm: WireForm<readonly GatewayEvent[]> = {
  events: (events, sessionId, epoch) =>
    events.map(
      (event) => ({ type: event.type, ...JSON.parse(eventJson(event, sessionId, epoch)) }) as GatewayEvent,
    ),
  transient: (type, data) => [{ type, ts: Date.now(), ...data } as unknown as GatewayEvent],
};
