import { GatewayError } from '../../../shared/errors.js';
import type { ClientFrame, RequestFrame } from '../../../shared/frames.js';
import { clientFrameSchema } from '../../../shared/schemas/frames.js';
import type { AuthRequest, UserLike } from '../../auth/types.js';
import type { EndReason } from '../../delivery/end-reason.js';
import { eachEvent, transientData, type WireForm } from '../../delivery/wire-form.js';
import { checkDepth, historyDepth, parseJson } from '../../schema/parse-json.js';
import { check } from '../../schema/validate.js';

/** Bytes that a socket may send before its first frame is complete; a `connect` that names 1,000 sessions takes fewer. */
export const HELLO_BYTES = 256 * 1024;

/** The other end of a socket, before it is authenticated. */
export interface FramePeer {
  readonly request: AuthRequest;
  /** The user, if the host has authenticated the upgrade itself; null if it found none. */
  readonly user?: UserLike | null | undefined;
}

/** The receiver of everything that a wire reports. */
export interface WireReader {
  /** Whether the client is identified, so that long messages are accepted. */
  readonly introduced: boolean;
  /** A whole message has arrived. */
  receive(text: string): void;
  /** The receiver has caught up. */
  drained(): void;
  /** The wire's own kind of ping has arrived, and was answered there. */
  pinged(): void;
  /** The socket is gone. */
  closed(): void;
}

/** One client's socket, in the view of its reader. */
export interface FrameWire {
  readonly transport: string;
  readonly form: WireForm<unknown>;
  /** Bytes that are written and not sent yet. */
  readonly backlog: number;
  /** Bytes that the receiver has taken so far. */
  readonly sent: number;
  /** Writes messages. False when the receiver does not keep up. */
  send(...texts: readonly string[]): boolean;
  /** Writes a payload of `form`. False when the receiver does not keep up. */
  write(payload: unknown): boolean;
  /** Stops reading. Messages that were read already may still be reported. */
  pause(): void;
  resume(): void;
  /** Closes in order: everything written before still arrives, if the receiver takes it. */
  close(end: WireEnd): void;
  destroy(): void;
}

/** Why a socket is closed: a close code of WebSockets (RFC 6455, section 7.4) and a word for it. */
export interface WireEnd {
  readonly code: number;
  readonly reason: string;
}

const BY_REASON: Readonly<Record<EndReason, WireEnd>> = {
  drain: { code: 1001, reason: 'SHUTTING_DOWN' },
  away: { code: 1001, reason: 'SHUTTING_DOWN' },
  rotate: { code: 1012, reason: 'ROTATE' },
  interrupted: { code: 1012, reason: 'INTERRUPTED' },
  slow: { code: 4008, reason: 'SLOW' },
  expired: { code: 4401, reason: 'UNAUTHENTICATED' },
};

/** How the gateway closes a connection that it ends. */
export function endOf(reason: EndReason): WireEnd {
  return BY_REASON[reason];
}

const BY_STATUS: Readonly<Record<number, number>> = { 401: 4401, 413: 1009, 429: 1013, 500: 1011, 503: 1001 };

/** How the gateway closes a socket that it refuses, or that misbehaved. */
export function endFor(error: GatewayError): WireEnd {
  return { code: BY_STATUS[error.status] ?? 4001, reason: error.code };
}

/** Closes the socket of a client that sends too many frames that are no requests. */
export const FLOODED: WireEnd = { code: 1008, reason: 'RATE_LIMITED' };

/**
 * Events as frames.
 *
 * @param join Joins the JSON texts of frames to one payload of a kind of wire, which all its clients share.
 */
export function frameForm<P>(join: (texts: readonly string[]) => P): WireForm<P> {
  return {
    events(events, origin, known) {
      const texts: string[] = [];
      // The frame is written by hand, because this runs for every event, whose data is JSON already.
      eachEvent(events, origin, { known }, (type, cursor, data) => {
        texts.push(`{"event":"${type}","id":"${cursor}","data":${data}}`);
      });
      return join(texts);
    },
    transient: (event, data, id) => join([JSON.stringify({ event, id, data: transientData(data, id) })]),
  };
}

/** A frame that cannot be read. `id` is the request it belongs to, if the frame names one. */
export class FrameFault extends GatewayError {
  readonly id: string | undefined;

  constructor(message: string, details: unknown, id?: string) {
    super({ code: 'INVALID_REQUEST', message, details });
    this.id = id;
  }
}

/** Reads a client's frame. @throws GatewayError `INVALID_REQUEST`, as a `FrameFault` if the text is JSON */
export function readFrame(text: string, maxDepth: number): ClientFrame {
  const raw = parseJson(text, historyDepth(maxDepth));
  if (!isRequest(raw) || raw.method !== 'import') checkDepth(text, maxDepth);
  if (isRequest(raw)) return raw;
  const outcome = check(clientFrameSchema, raw);
  if ('value' in outcome) return outcome.value as ClientFrame;
  const { issues } = outcome as {
    readonly issues: readonly { readonly path: string; readonly message: string }[];
  };
  const told = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new FrameFault(`The frame is malformed: ${told}`, issues, requestId(raw));
}

/** Whether a frame is a request. Nearly all frames are, so this check is written by hand; the schema checks all others. */
function isRequest(raw: unknown): raw is RequestFrame {
  const { type, id, method, window, traceparent } = (raw ?? {}) as {
    readonly [Field in keyof RequestFrame]?: unknown;
  };
  if (type !== 'req' || !isText(id, 256) || !isText(method, 1024)) return false;
  if (traceparent !== undefined && !isText(traceparent, 256)) return false;
  return window === undefined || (Number.isSafeInteger(window) && (window as number) >= 1);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= most;
}

function requestId(raw: unknown): string | undefined {
  const { type, id } = (raw ?? {}) as { readonly type?: unknown; readonly id?: unknown };
  return type === 'req' && isText(id, 256) ? (id as string) : undefined;
}
