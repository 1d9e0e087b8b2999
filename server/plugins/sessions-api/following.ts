import { parseCursor } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import { eventText } from '../conversation/answering.js';
import { reading } from '../conversation/reading.js';
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
export function dialectOf({ thread, lastId, deltas }: ApiReader, cursor: string | null): Dialect<ApiWriter> {
  const writer = new ApiWriter();
  const there = lastId === undefined ? seqOf(cursor) : Number.POSITIVE_INFINITY;
  let isTold = false;
  /** Pieces of the growing event that were not told, since they came before. */
  let missed: ApiFrame[] = [];
  const say = ({ isPiece, event }: ApiFrame): string =>
    !isPiece || deltas.has(typeIn(event)) ? eventText(event.type, event, event.id) : '';
  const told = (frame: ApiFrame): string => {
    const { isPiece, event } = frame;
    const pieces = event.type === 'event_start' ? [] : missed;
    missed = [];
    // The growing event is told from its beginning, once something of it is new.
    if (isTold) return [...(isPiece ? pieces : []), frame].map(say).join('');
    if (isPiece) missed = [...pieces, frame];
    isTold = !isPiece && event.id === lastId;
    return '';
  };
  const text = (event: GatewayEvent, next: readonly GatewayEvent[]): string => {
    if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
    if (event.type === 'gap') throw new GatewayError({ code: 'CURSOR_GONE' });
    isTold ||= seqOf(event.cursor) > there;
    const frames = writer.take(event, next).filter((frame) => passes(frame, thread));
    return frames.map(told).join('');
  };
  return {
    begin: () => ({ state: writer, text: ':\n\n' }),
    encode: (_, events) => ({
      state: writer,
      text: events.map((event, at) => text(event, events.slice(at + 1))).join(''),
    }),
  };
}

const seqOf = (cursor: string | null | undefined): number => parseCursor(cursor ?? '')?.seq ?? -1;

/** The type of the event that a piece belongs to. */
function typeIn({ event }: ApiEvent): string {
  return (event as { readonly type: string } | undefined)?.type ?? 'agent.message';
}

/** All events of a session that are kept, but for those whose text was taken back. */
export async function keptEvents(session: PluginSession, thread?: string): Promise<ApiEvent[]> {
  const events: GatewayEvent[] = [];
  for await (const event of session.export('events')) events.push(event);
  const writer = new ApiWriter();
  const frames = events.flatMap((event, at) => writer.take(event, events.slice(at + 1, at + 17)));
  const whole = frames.filter((frame) => !frame.isPiece && passes(frame, thread));
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
