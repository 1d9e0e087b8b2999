import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { SegmentStream, ToldPart } from '../../../shared/segment-stream.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Dialect, DialectOptions, PluginSession } from '../plugin.js';
import { codeOf } from './errors.js';

/** A part of a run to tell. */
export interface ToldSegment {
  readonly runId: string;
  /** Place just before its first event. */
  readonly cursor: string;
  readonly told: ToldPart;
  /** The number of frames that its reader already has. @default 0 */
  readonly skip?: number;
  /** Whether its reader knows frames by their number, so that only the run's own events will do. @default true if some are skipped */
  readonly isCounted?: boolean;
}

/** The words of a protocol. */
export interface SegmentWords<Frame> {
  stream(): SegmentStream<Frame>;
  frame(frame: Frame): string;
  /** Text that its readers ignore. @default an SSE comment */
  readonly blank?: string;
}

/** The state of a telling: its stream, and the number of frames made. */
export interface Tale<Frame> {
  readonly stream: SegmentStream<Frame>;
  made: number;
}

/**
 * A run's events as the frames of a protocol. It completes only at the end of the told part; any other end is thrown.
 *
 * @throws GatewayError `CURSOR_GONE` if the next events are no longer kept
 */
export function segmentDialect<Frame>(
  { told, skip = 0, isCounted = skip > 0 }: ToldSegment,
  { stream, frame, blank = ':\n\n' }: SegmentWords<Frame>,
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
        // It goes out with the response's head. A reader that counts frames knows from here on that some will come.
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

/** The output of a telling: a response, or a socket, which may carry other tellings too. */
export type DoorOutlet = Pick<DialectOptions, 'response' | 'socket' | 'signal'>;

/**
 * Answers with a session's events. If the end cannot be told, the stream does not end cleanly, since a clean end would be taken for the
 * real one.
 *
 * @param options `last`: makes the last words from the final state. `leaving`: the run that ends if its reader leaves
 * @returns The reason why the end could not be told; null if it was told
 */
export async function tell<State>(
  outlet: DoorOutlet,
  session: PluginSession,
  dialect: Dialect<State>,
  options: {
    readonly from: string;
    readonly lines?: boolean;
    readonly follows?: boolean;
    readonly leaving?: string | undefined;
    last?(state: State): MaybePromise<string>;
    report(error: unknown, what: string): void;
  },
): Promise<unknown> {
  const { from, lines = false, follows = false } = options;
  const { over, finish } = session.stream(dialect, { ...outlet, from, lines, follows });
  try {
    const state = await over;
    finish(await options.last?.(state));
    return null;
  } catch (error) {
    if (options.leaving !== undefined && codeOf(error) === 'ABORTED')
      await leave(session, options.leaving, options.report);
    if (!isGatewayError(error)) options.report(error, 'an answer could not be told to its end');
    outlet.response?.destroy();
    if (!outlet.signal?.aborted) outlet.socket?.close(INTERRUPTED);
    return error;
  }
}

/** Ends a run whose reader has left. */
export async function leave(
  session: PluginSession,
  runId: string,
  report: (error: unknown, what: string) => void,
): Promise<void> {
  try {
    await session.abort({ runId, reason: 'disconnected' });
  } catch (error) {
    if (!isGatewayError(error) || error.status >= 500)
      report(error, 'a run that was left could not be ended');
  }
}

/** The close code for clients that must come back (RFC 6455, section 7.4.2: service restart). */
const INTERRUPTED = 1012;

/** Answers with events that are already known. */
export function tellAll({ response, socket }: DoorOutlet, text: string, lines = false): void {
  socket?.send(...linesOf(text));
  response?.writeHead(200, {
    'Content-Type': `${lines ? 'application/x-ndjson' : 'text/event-stream'}; charset=utf-8`,
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  });
  response?.end(text);
}

/** The messages on a socket for a text: one for each line. */
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
