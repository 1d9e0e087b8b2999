import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AgUiEvent } from '../../../shared/ag-ui/events.js';
import { type AgUiReader, AgUiStream } from '../../../shared/ag-ui/stream.js';
import type { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import { parseCursor } from '../../../shared/cursor.js';
import { cut } from '../../../shared/cut.js';
import { initialState, type PendingQuestion, type SessionState } from '../../../shared/fold.js';
import { asking } from '../../../shared/said.js';
import { prefers } from '../../accept.js';
import { fieldError } from '../conversation/errors.js';
import { assertKept } from '../conversation/state.js';
import {
  type DoorOutlet,
  segmentDialect,
  type Tale,
  type ToldSegment,
  tell,
  tellAll,
} from '../conversation/told-segment.js';
import type { Dialect, PluginSession } from '../plugin.js';

/** A part of a run that a response tells to a client. */
export type AgUiSegment = ToldSegment & AgUiReader;

/**
 * The start for telling a run, chosen by the known state of its session.
 *
 * @param state The session before the run was sent, or a later one
 */
export function startOf(
  state: SessionState | null,
  { runId, cursor }: Pick<ToldSegment, 'runId' | 'cursor'>,
): Pick<AgUiSegment, 'cursor' | 'session' | 'folds'> {
  if (state?.cursor == null) return { cursor, session: state ?? initialState, folds: true };
  // The events before the run's beginning are folded too.
  const folds = isBefore(state.cursor, cursor) || state.queue.some((queued) => queued.runId === runId);
  return { cursor: folds ? state.cursor : cursor, session: state, folds };
}

/** Whether one place of a log is not behind another. */
function isBefore(one: string, other: string): boolean {
  const [a, b] = [parseCursor(one), parseCursor(other)];
  return !!a && !!b && a.epoch === b.epoch && a.seq <= b.seq;
}

/** A client's way of reading, and its place. */
export interface ReaderMode {
  /** Lines of JSON instead of Server-Sent Events. */
  readonly lines: boolean;
  /** The id of the client's last event, if it comes back for the rest. */
  readonly last: number | null;
  /** Suffix of each id, if one connection has events of several runs. @default none */
  readonly tag?: string;
}

const START: ReaderMode = { lines: false, last: null };

/** The reading of a client on a socket, for one of its runs. */
export function socketReading(runId: string, last: number | null): ReaderMode {
  const tag = cut(createHash('sha256').update(runId).digest('base64url'), 8);
  return { lines: true, last, tag: `@${tag}` };
}

/** Whether the client has events of the run, and wants those behind them. */
const counts = ({ last }: ReaderMode): boolean => (last ?? 0) > 0;

/**
 * Writes events with their ids: an event of the run has its number. Snapshots that bring a client in line with the session are not counted.
 * They may differ when it comes back, and only a client that has nothing of the run gets them again.
 */
class Frames {
  readonly #reading: ReaderMode;
  #number = 0;
  #before = 0;

  constructor(reading: ReaderMode) {
    this.#reading = reading;
  }

  frame(event: AgUiEvent): string {
    const { lines, last, tag = '' } = this.#reading;
    const isOwn = event.type !== 'RUN_STARTED' && event.type !== 'MESSAGES_SNAPSHOT';
    if (isOwn) this.#number += 1;
    else this.#before += 1;
    if (last !== null && last > 0 && (!isOwn || this.#number <= last)) return '';
    const id = `${isOwn ? this.#number : `0.${this.#before}`}${tag}`;
    return lines
      ? `${JSON.stringify({ id, chunk: event })}\n`
      : // TanStack AI takes an event with its `data`, and the id that came before: a cut between the two would bring the event twice.
        `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  all(events: readonly AgUiEvent[]): string {
    return events.map((event) => this.frame(event)).join('');
  }
}

/** The reading of a client that sends a request. */
export function readingOf({ headers }: Pick<IncomingMessage, 'headers'>): ReaderMode {
  const last = headers['last-event-id'];
  const lines = prefers(headers.accept, 'application/x-ndjson', 'text/event-stream');
  return { lines, last: last === undefined ? null : numberOf(String(last)) };
}

/** The number at the start of an id. @throws GatewayError `INVALID_REQUEST` for a foreign id */
export function numberOf(id: string): number {
  const [, number] = /^(\d{1,9})(?:\.\d{1,9})?(?:@[\w-]{8})?$/.exec(id) ?? [];
  if (number === undefined) throw fieldError('Last-Event-ID', 'must be an event id of this route');
  return Number(number);
}

/** Has a writer tell open questions, with their calls, and pause. */
export function askAgain(
  writer: AgUiWriter,
  questions: readonly PendingQuestion[],
): { readonly asked: readonly AgUiEvent[]; readonly end: readonly AgUiEvent[] } {
  const asked = questions.flatMap((question) => {
    const { runId = '', callId, name, input } = question;
    // Its client has the calls.
    writer.take({ type: 'tool_use', sessionId: '', cursor: '', ts: 0, runId, callId, name, input });
    return writer.take(asking(question));
  });
  return { asked, end: writer.pause() };
}

/** The dialect of the run, behind the events that begin every stream. */
function dialectOf(telling: AgUiSegment, reading: ReaderMode): Dialect<Tale<AgUiEvent>> {
  const stream = new AgUiStream(telling.runId, telling.told, telling);
  const frames = new Frames(reading);
  const frame = (event: AgUiEvent): string => frames.frame(event);
  const { begin, encode } = segmentDialect(
    { ...telling, isCounted: counts(reading) },
    {
      stream: () => stream,
      frame,
      ...(reading.lines && { blank: '\n' }),
    },
  );
  let isStarted = false;
  return {
    begin(session) {
      const encoded = begin(session);
      if (isStarted) return encoded;
      isStarted = true;
      return { ...encoded, text: frames.all(stream.start()) };
    },
    encode,
  };
}

/** Answers with a part of a run. */
export async function tellRun(
  outlet: DoorOutlet,
  session: PluginSession,
  telling: AgUiSegment,
  {
    report,
    reading = START,
    leaving,
  }: {
    report(error: unknown, what: string): void;
    readonly reading?: ReaderMode;
    /** The run that ends if its reader leaves. */
    readonly leaving?: string | undefined;
  },
): Promise<void> {
  // Numbers count from the run's first event.
  if (counts(reading)) await assertKept(session, telling.cursor);
  const { lines } = reading;
  await tell(outlet, session, dialectOf(telling, reading), { from: telling.cursor, lines, leaving, report });
}

/** Answers with events that are already known. */
export async function tellEvents(
  outlet: DoorOutlet,
  events: readonly AgUiEvent[],
  reading = START,
): Promise<void> {
  tellAll(outlet, new Frames(reading).all(events), reading.lines);
}
