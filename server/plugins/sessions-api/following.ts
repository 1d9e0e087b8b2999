import type { ServerResponse } from 'node:http';
import { formatCursor, parseCursor } from '../../../shared/cursor.js';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import { isKept } from '../conversation/state.js';
import type { Dialect, PluginSession } from '../plugin.js';
import { cursorIn, placeOf } from './ids.js';
import { type ApiEvent, type ApiFrame, ApiWriter, passes } from './writer.js';

/** The reader of a stream. */
export interface ApiReader {
  /** The child run whose stream it is. @default the session's own */
  readonly thread?: string | undefined;
  /** The id of the last event that it has. @default it is told what comes from now on */
  readonly lastId?: string | undefined;
  /** Types of events that it is told in pieces before they are whole. */
  readonly deltas: ReadonlySet<string>;
}

/** Tells a session's events for as long as they are read. Rejects with the reason why there are no more. @throws GatewayError `CURSOR_GONE` */
export async function follow(
  session: PluginSession,
  state: SessionState,
  { response, ...reader }: ApiReader & { readonly response: ServerResponse },
): Promise<unknown> {
  const { lastId } = reader;
  const from = await startOf(session, state, lastId);
  const shown = lastId === undefined ? state.cursor : null;
  return session.stream(dialect(reader, shown), { response, from, follows: true }).over;
}

/** The place from which all runs are told whole that are under way, or were so when a reader was told its last event. */
async function startOf(session: PluginSession, state: SessionState, lastId?: string): Promise<string> {
  const { run, queue, lanes = [], messages } = state;
  const open = [...(run ? [run] : []), ...queue, ...lanes].map(({ runId }) => runId);
  const ended =
    lastId === undefined ? [] : messages.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
  const last = lastId === undefined ? null : await placeIn(session, lastId);
  const places = await Promise.all(
    [...new Set([...open, ...ended])].map((runId) => cursorOf(session, runId)),
  );
  let start = last;
  for (const cursor of places) {
    if (cursor === null || !(await isKept(session, cursor))) continue;
    if (start === null || parseCursor(cursor)!.seq < parseCursor(start)!.seq) start = cursor;
  }
  return start ?? state.cursor ?? 'earliest';
}

/** The place before an event. @throws GatewayError `CURSOR_GONE` if it is not kept */
async function placeIn(session: PluginSession, id: string): Promise<string> {
  const place = placeOf(id);
  const cursor = place ? await cursorOf(session, place.runId) : cursorIn(id);
  const { epoch, term, seq } = (cursor === null ? null : parseCursor(cursor)) ?? {
    epoch: '',
    term: 0,
    seq: 0,
  };
  const before = place ? cursor : formatCursor(epoch, term, seq - 1);
  if (
    cursor !== null &&
    before !== null &&
    epoch === (await session.status()).epoch &&
    (await isKept(session, before))
  )
    return before;
  throw new GatewayError({
    code: 'CURSOR_GONE',
    status: 400,
    message: 'Last-Event-ID: what follows this event is not kept: list the events',
  });
}

async function cursorOf(session: PluginSession, runId: string): Promise<string | null> {
  try {
    const info = await session.run(runId).status();
    return info.sessionId === session.id ? info.cursor : null;
  } catch (error) {
    if (isGatewayError(error) && error.status < 500) return null;
    throw error;
  }
}

/** @param shown The place up to which nothing is told, since the reader asked for what comes from now on */
function dialect({ thread, lastId, deltas }: ApiReader, shown: string | null): Dialect<ApiWriter> {
  const writer = new ApiWriter();
  const after = shown === null ? -1 : (parseCursor(shown)?.seq ?? -1);
  let isTold = lastId === undefined;
  /** Pieces of the growing event that were not told, since they came before. */
  let missed: ApiFrame[] = [];
  const text = (event: GatewayEvent, next: readonly GatewayEvent[]): string => {
    const isLate = (event.cursor === undefined ? 0 : (parseCursor(event.cursor)?.seq ?? 0)) <= after;
    let said = '';
    for (const frame of writer.take(event, next)) {
      const { isPiece, event: told } = frame;
      if (!passes(frame, thread)) continue;
      const isWanted = !isPiece || deltas.has(typeIn(told));
      if (!isTold || isLate) {
        // The growing event is told from its beginning, once something of it is new.
        missed = isPiece ? [...(told.type === 'event_start' ? [] : missed), frame] : [];
        if (told.id === lastId) isTold = true;
      } else if (isWanted) {
        if (isPiece) for (const piece of missed) said += textOf(piece.event);
        missed = [];
        said += textOf(told);
      }
    }
    return said;
  };
  return {
    begin: () => ({ state: writer, text: ':\n\n' }),
    encode(_, events) {
      let said = '';
      for (const [at, event] of events.entries()) {
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        if (event.type === 'gap') throw new GatewayError({ code: 'CURSOR_GONE' });
        said += text(event, events.slice(at + 1));
      }
      return { state: writer, text: said };
    },
  };
}

/** The type of the event that a piece belongs to. */
function typeIn({ event }: ApiEvent): string {
  return (event as { readonly type: string } | undefined)?.type ?? 'agent.message';
}

function textOf(event: ApiEvent): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n${id}\n`;
}

/** All events of a session that are kept, but for those whose text was taken back. */
export async function keptEvents(session: PluginSession, thread?: string): Promise<ApiEvent[]> {
  const events: GatewayEvent[] = [];
  for await (const event of session.export('events')) events.push(event);
  const writer = new ApiWriter();
  const found: ApiEvent[] = [];
  for (const [at, event] of events.entries())
    for (const frame of writer.take(event, events.slice(at + 1, at + 17)))
      if (!frame.isPiece && passes(frame, thread)) found.push(frame.event);
  return found.filter(({ id }) => !writer.gone.has(id!));
}

/** The call that waits for an answer to an event. @throws GatewayError `CALL_NOT_FOUND` */
export async function callOf(session: PluginSession, id: string): Promise<string> {
  const place = placeOf(id);
  const from = place && (await cursorOf(session, place.runId));
  if (from) {
    const writer = new ApiWriter();
    const reading: Dialect<ApiWriter> = {
      begin: () => ({ state: writer, text: '' }),
      encode(_, events, { isHead }) {
        for (const [at, event] of events.entries()) writer.take(event, events.slice(at + 1));
        return { state: writer, text: '', over: isHead || writer.callOf(id) !== undefined };
      },
    };
    const callId = (await session.stream(reading, { from }).over).callOf(id);
    if (callId !== undefined) return callId;
  }
  throw new GatewayError({ code: 'CALL_NOT_FOUND', message: `Nothing waits for an answer to ${id}` });
}
