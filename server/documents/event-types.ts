import type { EventType, LoggedEventType } from '../../shared/events.js';
import { eventDataSchemas, loggedShapes } from '../../shared/schemas/events.js';

/** Every type of event. */
export const EVENTS = Object.keys(eventDataSchemas) as EventType[];

/** The types that the stream of one run may hold. */
export const RUN_EVENTS: readonly EventType[] = [
  ...(Object.keys(loggedShapes) as LoggedEventType[]),
  'heartbeat',
  'gap',
  'snapshot',
  'auth_expired',
];
