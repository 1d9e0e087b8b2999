import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { SegmentStream, Told } from '../../../shared/segment-stream.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Dialect, DialectOptions, PluginSession } from '../plugin.js';

/** A part of a run that is to be told. */
export interface Telling {
  readonly runId: string;
  /** Place just before its first event. */
  readonly cursor: string;
  readonly told: Told;
  /** Frames that its reader has already. @default 0 */
  readonly skip?: number;
  /** Whether its reader knows frames by their number, so that only the run's own events will do. @default where some are skipped */
  readonly isCounted?: boolean;
}

/** How a protocol tells. */
export interface TellingWords<Frame> {
  stream(): SegmentStream<Frame>;
  frame(frame: Frame): string;
  /** Text that its readers pass over. @default an SSE comment */
  readonly blank?: string;
}

/** The state of a telling: its stream, and how many frames were made. */
export interface Tale<Frame> {
  readonly stream: SegmentStream<Frame>;
  made: number;
}

/**
 * A run's events as the frames of a protocol. It ends only where that has its end; whatever else ends it is thrown.
 *
 * @throws GatewayError `CURSOR_GONE` where what comes next is not kept any more
 */
export function segmentDialect<Frame>(
  { told, skip = 0, isCounted = skip > 0 }: Telling,
  { stream, frame, blank = ':\n\n' }: TellingWords<Frame>,
): Dialect<Tale<Frame>> {
  let gap = false;
  let tale: Tale<Frame> | null = null;
  const say = (frames: readonly Frame[]): string => {
    const from = Math.max(0, skip - tale!.made);
    tale!.made += frames.length;
    return frames.slice(from).map(frame).join('');
  };
  const encoded = (text: string) => ({ state: tale!, text, over: tale!.stream.over });
  return {
    begin(session) {
      if (!tale) {
        tale = { stream: stream(), made: 0 };
        // The head leaves with it, and whoever counts frames knows from here on that there will be some.
        return { state: tale, text: blank };
      }
      const frames =
        gap && told === 'whole' && tale.made === 0 && !isCounted ? tale.stream.begin(session) : null;
      if (!frames) throw new GatewayError({ code: 'CURSOR_GONE' });
      gap = false;
      return encoded(say(frames));
    },
    encode(_, events, { isHead }) {
      let text = '';
      for (const event of events) {
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        if (event.type === 'gap') gap = true;
        else text += say(tale!.stream.take(event));
        if (tale!.stream.over) return encoded(text);
      }
      if (isHead && !gap) text += say(tale!.stream.head());
      return encoded(text);
    },
  };
}

/** What is told on: a response, or a socket, which other things may be told on too. */
export type Outlet = Pick<DialectOptions, 'response' | 'socket' | 'signal'>;

/**
 * Answers with a session's events. A stream that could not be told to its end does not end cleanly: that would be taken for the end.
 *
 * @param options `last`: the last words, by the state that was reached
 * @returns Why it could not be told to its end; null where it was
 */
export async function tell<State>(
  outlet: Outlet,
  session: PluginSession,
  dialect: Dialect<State>,
  options: {
    readonly from: string;
    readonly lines?: boolean;
    last?(state: State): MaybePromise<string>;
    report(error: unknown, what: string): void;
  },
): Promise<unknown> {
  const { from, lines = false } = options;
  const { over, finish } = session.stream(dialect, { ...outlet, from, lines });
  try {
    const state = await over;
    finish(await options.last?.(state));
    return null;
  } catch (error) {
    if (!isGatewayError(error)) options.report(error, 'an answer could not be told to its end');
    outlet.response?.destroy();
    if (!outlet.signal?.aborted) outlet.socket?.close(INTERRUPTED);
    return error;
  }
}

/** The close code of sockets whose clients are to come back (RFC 6455, section 7.4.2: service restart). */
const INTERRUPTED = 1012;

/** Answers with events that are known already. */
export function tellAll({ response, socket }: Outlet, text: string, lines = false): void {
  socket?.send(...linesOf(text));
  response?.writeHead(200, {
    'Content-Type': `${lines ? 'application/x-ndjson' : 'text/event-stream'}; charset=utf-8`,
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  });
  response?.end(text);
}

/** What is said on a socket by text: a message each line. */
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
