import { parseCursor } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import { eventText } from '../conversation/answering.js';
import { reading, telling } from '../conversation/reading.js';
import { firstOf, runIn } from '../conversation/runs.js';
import { isKept } from '../conversation/state.js';
import type { Dialect, PluginSession } from '../plugin.js';
import { type ApiEvent, type ApiFrame, passes } from './frames.js';
import { placeBefore } from './ids.js';
import { ApiWriter } from './writer.js';

/** The reader of a stream. */
export interface ApiReader {
  /** The child run whose stream it is. @default the session's own */
  readonly thread?: string | undefined;
  /** The id of the last event that it has. @default it is told what comes from now on */
  readonly lastId?: string | undefined;
  /** Types of events that it is told in pieces before they are whole. */
  readonly deltas: ReadonlySet<string>;
}

/**
 * The place from which all runs are told whole that are under way, or were so when a reader was told its last event.
 *
 * @throws GatewayError `CURSOR_GONE`
 */
export async function startOf(session: PluginSession, state: SessionState, lastId?: string): Promise<string> {
  const { run, queue, lanes = [], messages, cursor } = state;
  const open = [...(run ? [run] : []), ...queue, ...lanes, ...(lastId === undefined ? [] : messages)];
  const last = lastId === undefined ? null : await keptBefore(session, lastId);
  if (lastId !== undefined && last === null)
    throw new GatewayError({
      code: 'CURSOR_GONE',
      status: 400,
      message: 'Last-Event-ID: what follows this event is not kept: list the events',
    });
  const runIds = open.flatMap(({ runId }) => runId ?? []);
  return (await firstOf(session, runIds, last)) ?? cursor ?? 'earliest';
}

/** The place just before an event; null if what follows it is not kept. */
async function keptBefore(session: PluginSession, id: string): Promise<string | null> {
  const place = placeBefore(id);
  const isOurs = place !== null && parseCursor(place)?.epoch === (await session.status()).epoch;
  return isOurs && (await isKept(session, place)) ? place : null;
}

/** Tells a session's events for as long as they are read. @param cursor The end of what is there already */
export function dialectOf({ thread, lastId, deltas }: ApiReader, cursor: string | null): Dialect<null> {
  const writer = new ApiWriter();
  const there = lastId === undefined ? seqOf(cursor) : Number.POSITIVE_INFINITY;
  let isNew = false;
  let growing: string | undefined;
  const told = ({ event, delta }: ApiFrame): string => {
    const { id, type, content } = event;
    const isDue = isNew;
    if (delta === undefined) {
      isNew ||= id === lastId;
      return isDue ? eventText(type, event, id) : '';
    }
    if (!isDue || !deltas.has(type)) return '';
    const isBegun = growing === id;
    growing = id;
    const start = isBegun ? '' : textOf({ type: 'event_start', event: { id, type } });
    if (!Array.isArray(content)) return start;
    // The first piece brings along all text before it.
    const piece = {
      type: 'content_delta',
      index: 0,
      content: isBegun ? { type: 'text', text: delta } : content[0],
    };
    return start + textOf({ type: 'event_delta', event_id: id, delta: piece });
  };
  return telling((event, next) => {
    isNew ||= seqOf(event.cursor) > there;
    const frames = writer.take(event, next).filter((frame) => passes(frame, thread));
    return frames.map(told).join('');
  });
}

const textOf = (event: ApiEvent): string => eventText(event.type, event);

const seqOf = (cursor: string | null | undefined): number => parseCursor(cursor ?? '')?.seq ?? -1;

/** All events of a session that are kept, but for those whose text was taken back. */
export async function keptEvents(session: PluginSession, thread?: string): Promise<ApiEvent[]> {
  const events: GatewayEvent[] = [];
  for await (const event of session.export('events')) events.push(event);
  const writer = new ApiWriter();
  const frames = events.flatMap((event, at) => writer.take(event, events.slice(at + 1, at + 17)));
  const whole = frames.filter((frame) => frame.delta === undefined && passes(frame, thread));
  return whole.map(({ event }) => event).filter(({ id }) => !writer.gone.has(id!));
}

/** The call of an event, whose run goes on. @throws GatewayError `CALL_NOT_FOUND` */
export async function callOf(session: PluginSession, id: string): Promise<string> {
  const from = await keptBefore(session, id);
  const found: GatewayEvent[] = [];
  const first = { over: true, take: (event: GatewayEvent) => found.push(event) };
  if (from !== null) await session.stream(reading(first), { from }).over;
  const { callId, runId = '' } = (found[0] ?? {}) as { readonly callId?: string; readonly runId?: string };
  const run = callId === undefined ? null : await runIn(session, runId);
  if (callId !== undefined && run && run.state !== 'ended') return callId;
  throw new GatewayError({ code: 'CALL_NOT_FOUND', message: `Nothing waits for an answer to ${id}` });
}
