import { formatCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { WireForm } from './wire-form.js';

/** Events as objects, for readers in this process. */
export const objectForm: WireForm<readonly GatewayEvent[]> = {
  events: (events, { sessionId, epoch }) =>
    events.map(({ type, term, seq, body }) => {
      const cursor = formatCursor(epoch, term, seq);
      return { type, sessionId, cursor, ...JSON.parse(body) } as GatewayEvent;
    }),
  transient: (type, data) => [{ type, ts: Date.now(), ...data } as unknown as GatewayEvent],
};
