import { eventId } from './ids.js';

/** An event of the API. */
export type ApiEvent = { readonly type: string; readonly id?: string } & Readonly<Record<string, unknown>>;

/** An event, and the run whose it is; absent for those of the session itself. */
export interface ApiFrame {
  readonly event: ApiEvent;
  readonly runId?: string;
  /** The newest text of an event that grows; absent from a whole event. */
  readonly delta?: string;
  /** Whether the run is a child, which has a thread of its own. */
  readonly isLane?: boolean;
}

/** The session's own stream tells those events of a child run that people may have to answer. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['agent.tool_use', 'agent.custom_tool_use', 'user.tool_confirmation', 'user.custom_tool_result'],
  ...['session.status_idle', 'session.status_running'],
]);

/** Whether a stream tells a frame. @param thread The child run whose stream it is; undefined for the session's */
export function passes({ event, runId, isLane }: ApiFrame, thread: string | undefined): boolean {
  if (thread !== undefined) return runId === thread;
  return !isLane || SHOWN.has(event.type);
}

/** The event of a type that an event of the log becomes. */
export function frameOf(
  { cursor = '', ts }: { readonly cursor?: string; readonly ts?: number },
  type: string,
  rest: object = {},
): ApiFrame {
  return { event: { id: eventId(cursor, type), type, processed_at: iso(ts), ...rest } };
}

/** A time in the API's form. */
export const iso = (ts = 0): string => new Date(ts).toISOString();
