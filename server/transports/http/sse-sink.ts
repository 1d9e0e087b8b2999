import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { encodeSse } from '../../../shared/sse.js';
import type { Sink } from '../../delivery/connection.js';
import { type EndReason, retryAfter } from '../../delivery/end-reason.js';
import { eachEvent, transientData, type WireForm } from '../../delivery/wire-form.js';
import { nameAnswer } from '../request-id.js';
import { sentBytes } from '../sent-bytes.js';
import { isShareable, SharedText, type SocketPayload, writeTo } from '../shared-text.js';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform keeps compressing proxies and middleware from holding events back.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
  // The URL of the stream may hold a ticket.
  'Referrer-Policy': 'no-referrer',
};

/** Writes `retry:` with jitter. @param forMs Time for which the reason has held */
export function retryLine(reason: EndReason, forMs = 0): string {
  return `retry: ${retryAfter(reason, forMs)}\n\n`;
}

/** Sends the head of an event stream. @param type Media type. @default `text/event-stream` */
export function startSse(response: ServerResponse, type?: string): void {
  if (response.headersSent) return;
  nameAnswer(response);
  response.writeHead(200, type === undefined ? HEADERS : { ...HEADERS, 'Content-Type': type });
  response.flushHeaders();
}

/** Makes compressing middleware pass on the bytes that it holds. */
export function flushResponse(response: ServerResponse): void {
  (response as { flush?: () => void }).flush?.();
}

/** How SSE ids are written: the cursor of one session on each event, or vectors of several on heartbeats. */
export type IdMode = 'cursor' | 'vector';

/** A chunk of HTTP/1.1 (RFC 9112, section 7.1), built once and shared by the sockets of all subscribers. */
function chunk(text: string): SocketPayload {
  const size = Buffer.byteLength(text);
  const head = `${size.toString(16)}\r\n`;
  if (isShareable(text, size)) return new SharedText(`${head}${text}\r\n`);
  // A long text is copied only once, into the buffer that is sent.
  const bytes = Buffer.allocUnsafe(head.length + size + 2);
  bytes.write(head, 0, 'latin1');
  bytes.write(text, head.length, size === text.length ? 'latin1' : 'utf8');
  bytes.write('\r\n', head.length + size, 'latin1');
  return bytes;
}

function sseForm(ids: IdMode, frame: (text: string) => SocketPayload): WireForm<SocketPayload> {
  return {
    events(events, origin, known) {
      let text = '';
      // The type comes from the protocol and needs no check, which would run for every event.
      eachEvent(events, origin, { known, whole: ids === 'vector' }, (type, cursor, data) => {
        text +=
          ids === 'cursor'
            ? `event: ${type}\ndata: ${data}\nid: ${cursor}\n\n`
            : `event: ${type}\ndata: ${data}\n\n`;
      });
      return frame(text);
    },
    transient(type, data, id) {
      const shown = ids === 'cursor' || type === 'heartbeat' ? id : undefined;
      return frame(encodeSse(type, JSON.stringify(transientData(data, shown)), shown));
    },
  };
}

const bytes = (text: string): Buffer => Buffer.from(text);

/** The SSE forms: as plain text for `res.write`, and as ready HTTP/1.1 chunks for the socket. */
export const SSE_FORMS: Readonly<
  Record<IdMode, Readonly<Record<'text' | 'chunk', WireForm<SocketPayload>>>>
> = {
  cursor: { text: sseForm('cursor', bytes), chunk: sseForm('cursor', chunk) },
  vector: { text: sseForm('vector', bytes), chunk: sseForm('vector', chunk) },
};

/** An SSE response. Ready chunks, shared by all subscribers, go straight to its socket unless middleware has wrapped the response. */
export class SseSink implements Sink {
  readonly form: WireForm<SocketPayload>;
  readonly #response: ServerResponse;
  #socket: Socket | null = null;
  readonly #direct: boolean;
  readonly #type: string | undefined;
  readonly #ended: (response: ServerResponse) => void;

  /** @param ended Called when the stream has been ended. Bytes written before may still be unread. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    {
      ids,
      ended,
      type,
    }: { readonly ids: IdMode; readonly ended: (response: ServerResponse) => void; readonly type?: string },
  ) {
    this.#type = type;
    this.#response = response;
    this.#ended = ended;
    this.#direct = canWriteChunks(request, response);
    this.form = SSE_FORMS[ids][this.#direct ? 'chunk' : 'text'];
  }

  /** Writes text that is in the form of Server-Sent Events. False when the receiver does not keep up. */
  writeText(text: string): boolean {
    return this.write(this.#direct ? chunk(text) : Buffer.from(text));
  }

  write(payload: SocketPayload): boolean {
    if (this.#socket) return writeTo(this.#socket, payload);
    const response = this.#response;
    if (!response.headersSent) {
      const { socket } = response;
      // The head and the first events leave together.
      socket?.cork();
      startSse(response, this.#type);
      if (socket) process.nextTick(() => socket.uncork());
      if (this.#direct && response.socket instanceof Socket) {
        this.#socket = response.socket;
        return writeTo(this.#socket, payload);
      }
    }
    const writable = writeTo(response, payload);
    flushResponse(response);
    return writable;
  }

  sent(): number {
    return sentBytes(this.#response.socket);
  }

  unread(): number {
    return this.#socket?.writableLength ?? this.#response.writableLength;
  }

  /** Calls back whenever the receiver has caught up. */
  onDrain(drained: () => void): void {
    const { socket } = this.#response;
    const emitter = this.#direct && socket ? socket : this.#response;
    emitter.on('drain', drained);
    this.#response.once('close', () => emitter.off('drain', drained));
  }

  end(reason: EndReason): void {
    if (reason === 'slow') this.#response.destroy();
    else this.finish(retryLine(reason));
  }

  /** Ends the stream; `last` is one more piece of text. */
  finish(last?: string): void {
    startSse(this.#response, this.#type);
    // Node's own writer adds the terminating chunk, also after chunks that were written to the socket.
    this.#response.end(last);
    this.#ended(this.#response);
  }
}

/** Whether a response is unwrapped, uses HTTP/1.1 chunks and has its socket, so that chunks can be written past it. */
function canWriteChunks(request: IncomingMessage, response: ServerResponse): boolean {
  return (
    request.httpVersion === '1.1' &&
    response.socket instanceof Socket &&
    response.write === ServerResponse.prototype.write &&
    response.end === ServerResponse.prototype.end &&
    response.writeHead === ServerResponse.prototype.writeHead &&
    response.useChunkedEncodingByDefault
  );
}
