import { parseCursor } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { initialState, type SessionState } from '../../../shared/fold.js';
import { eventText } from '../conversation/answering.js';
import { firstOf } from '../conversation/runs.js';
import type { Dialect, PluginSession } from '../plugin.js';
import type { Frame, FrameChannel } from './frames.js';
import { LangGraphWriter } from './writer.js';

/** An event with its place: `seq` grows with the log, and the same event has the same id for every reader. */
export interface PlacedFrame extends Frame {
  readonly id: string;
  readonly seq: number;
  readonly ts: number;
  /** Whether it comes from a snapshot. */
  readonly isWhole: boolean;
}

/** The largest number of frames that one event of a session becomes. */
const EACH = 16;
/** The number of answers that a returning client receives again, since it does not say how far it came. */
const AGAIN = 3;

/** The number of the last event up to a place in the log. */
export function seqOf(cursor: string | null): number {
  const place = cursor === null ? null : parseCursor(cursor);
  return place ? place.seq * EACH + EACH - 1 : 0;
}

/** The number of the event with an id of a client; undefined for an invalid id, or one of another log. */
export function seqOfId(id: string | undefined, epoch: string | undefined): number | undefined {
  const match = /(?:^|:)([^:]+):(\d+)$/.exec(id ?? '');
  const place = match && parseCursor(match[1]!);
  return place && place.epoch === epoch ? place.seq * EACH + Number(match![2]) : undefined;
}

/** The start of telling a thread. */
export interface EventStart {
  readonly from: string;
  /** The state of the session there. */
  readonly state: SessionState;
}

/** The place from which the last answers, and those in progress, can be told whole. @param runId Begin at this run, if given */
export async function startOf(
  session: PluginSession,
  state: SessionState | null,
  runId?: string,
): Promise<EventStart> {
  if (state?.cursor == null) return { from: 'earliest', state: initialState };
  const found = runsOf(state, runId);
  // Events that were copied from another session, or are no longer kept, are only in the state.
  const from = await firstOf(session, found);
  // A run whose beginning is no longer kept is told from a snapshot.
  if (from === null) return { from: state.run || runId !== undefined ? 'snapshot' : state.cursor, state };
  return { from, state: stateBefore(state, from, found) };
}

/** The runs that are told again: one, with those that it waits for, or the last ones. */
function runsOf({ run, queue, messages }: SessionState, runId: string | undefined): ReadonlySet<string> {
  const waits = queue.some((queued) => queued.runId === runId);
  if (runId !== undefined && !waits) return new Set([runId]);
  const open = [...(run ? [run] : []), ...queue].map((each) => each.runId);
  const ended = messages.flatMap((message) => message.runId ?? []);
  return new Set([...open, ...(waits ? [] : ended.slice(-AGAIN))]);
}

/** The state before the first of some runs, which then add themselves to it again. */
function stateBefore(state: SessionState, from: string, runs: ReadonlySet<string>): SessionState {
  const { run } = state;
  let end = state.messages.findIndex(({ runId }) => runId !== undefined && runs.has(runId)) - 1;
  if (end < -1) end = state.messages.length;
  if (end === state.messages.length && run && runs.has(run.runId)) {
    // Skips the messages that the active run answers or was steered with.
    while (end > 0 && state.messages[end - 1]!.createdAt > run.message.createdAt) end -= 1;
    end -= 1;
  }
  const messages = state.messages.slice(0, Math.max(0, end));
  const tip = messages.at(-1)?.id ?? null;
  return { ...initialState, messages, messageCount: messages.length, tip, cursor: from };
}

/** Gives the frames of each event their places. */
export class PlacedFrames {
  readonly writer: LangGraphWriter;

  constructor(state: SessionState) {
    this.writer = new LangGraphWriter(state);
  }

  take(event: GatewayEvent, next: readonly GatewayEvent[]): PlacedFrame[] {
    const { cursor, ts = 0 } = event;
    return this.#placed(this.writer.take(event, next), cursor ?? '', { ts, isWhole: false });
  }

  /** Begins with a snapshot. */
  begin(): PlacedFrame[] {
    const { cursor, messages } = this.writer.state;
    const ts = messages.at(-1)?.createdAt ?? 0;
    return this.#placed(this.writer.begin(ts), cursor ?? '', { ts, isWhole: true });
  }

  #placed(
    frames: readonly Frame[],
    cursor: string,
    { ts, isWhole }: Pick<PlacedFrame, 'ts' | 'isWhole'>,
  ): PlacedFrame[] {
    const seq = (parseCursor(cursor)?.seq ?? 0) * EACH;
    return frames.map((frame, at) => {
      // A client learns the id of a run from the ids of its lifecycle events.
      const of = frame.runId === undefined ? '' : `synth:${frame.runId}:`;
      return {
        ...frame,
        id: `${of}${isWhole ? 'whole:' : ''}${cursor}:${at}`,
        seq: seq + Math.min(at, EACH - 1),
        ts,
        isWhole,
      };
    });
  }
}

/** Turns frames into text. */
export interface Teller {
  /** Called when everything up to a place was told. */
  passed?(cursor: string | null): void;
  /** Whether everything was told. */
  readonly over?: boolean;
  /** Text before all frames. */
  readonly start?: string;
  tell(frame: PlacedFrame): string;
  /** Text behind frames that came together. */
  flush?(): string;
}

/** A dialect that turns a session's frames into text by a teller, until that is over. */
export function frameDialect(state: SessionState, teller: Teller): Dialect<PlacedFrames> {
  let frames: PlacedFrames | null = null;
  const say = (placed: readonly PlacedFrame[]): string => {
    let text = '';
    for (const frame of placed) if (!teller.over) text += teller.tell(frame);
    return text;
  };
  const flushed = (text: string): string => {
    const more = teller.over ? undefined : teller.flush?.();
    return more === undefined ? text : text + more;
  };
  const encoded = (text: string) => ({ state: frames!, text, over: teller.over ?? false });
  return {
    begin(session) {
      // The head goes out with a comment, so that a client knows that its request was accepted.
      const start = frames ? '' : (teller.start ?? ':\n\n');
      const isSnapshot = session.cursor !== null;
      frames = new PlacedFrames(isSnapshot ? session : state);
      const text = start + (isSnapshot ? say(frames.begin()) : '');
      if (isSnapshot) teller.passed?.(session.cursor);
      return encoded(flushed(text));
    },
    encode(_, events) {
      let text = '';
      for (const [at, event] of events.entries()) {
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        if (event.type !== 'gap') text += say(frames!.take(event, events.slice(at + 1)));
        if (teller.over) break;
        if (event.cursor) teller.passed?.(event.cursor);
      }
      return encoded(flushed(text));
    },
  };
}

/** The client's active run, or its last one, by all present events. */
export function segmentNow(session: PluginSession, { from, state }: EventStart): Promise<number> {
  let frames = new PlacedFrames(state);
  const dialect: Dialect<PlacedFrames> = {
    begin(session) {
      if (session.cursor !== null) frames = new PlacedFrames(session);
      return { state: frames, text: '' };
    },
    encode(_, events, { isHead }) {
      for (const event of events) frames.take(event, []);
      return { state: frames, text: '', over: isHead };
    },
  };
  return session.stream(dialect, { from }).over.then(({ writer }) => writer.segment);
}

/** A client's filter of events. */
export interface EventFilter {
  readonly channels: readonly string[];
  readonly namespaces?: readonly (readonly string[])[] | undefined;
  /** The number of the client's last event. */
  readonly since: number;
}

/** Options of `eventDialect`. */
export interface EventDialectOptions extends Pick<Teller, 'passed'> {
  /** Whether each event is a line of JSON, rather than a Server-Sent Event. */
  readonly asLines: boolean;
}

/** The dialect that writes a thread's events for as long as a client reads: those that one of its filters lets pass, each once. */
export function eventDialect(
  state: SessionState,
  filters: readonly EventFilter[],
  { asLines, ...telling }: EventDialectOptions,
): Dialect<PlacedFrames> {
  const passes = filters.map(passOf);
  return frameDialect(state, {
    ...telling,
    tell: (frame) => (passes.some((pass) => pass(frame)) ? textOf(frame, asLines) : ''),
    ...(asLines && { start: '' }),
  });
}

function passOf({ channels, namespaces, since }: EventFilter): (frame: PlacedFrame) => boolean {
  // There are no namespaces below the root.
  const isRoot = namespaces === undefined || namespaces.some((namespace) => namespace.length === 0);
  const wanted = new Set(channels.map((channel) => channel.split(':')[0]));
  return ({ seq, method }) => isRoot && seq > since && wanted.has(channelOf(method));
}

function channelOf(method: FrameChannel): string {
  return method.split('.')[0]!;
}

function textOf({ id, seq, ts, method, data }: PlacedFrame, asLine: boolean): string {
  const params = { namespace: [], timestamp: ts, data };
  const event = { type: 'event', event_id: id, seq, method, params };
  return asLine ? `${JSON.stringify(event)}\n` : eventText(method, event, id);
}
