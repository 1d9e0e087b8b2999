import type { Duplex } from 'node:stream';
import {
  type FrameWire,
  frameForm,
  HELLO_BYTES,
  type WireEnd,
  type WireReader,
} from '../frames/frame-wire.js';
import { sentBytes } from '../sent-bytes.js';
import { isShareable, SharedText, type SocketPayload, writeTo } from '../shared-text.js';
import type { WebSocket } from './ws.js';

/** Pings without a sign of life after which a peer counts as dead. */
const MISSED_PINGS = 2;

/** Events as WebSocket frames, built once and shared by the sockets of all subscribers. */
const WEBSOCKET_FORM = frameForm(textFrames);

const NOT_TEXT: WireEnd = { code: 1003, reason: 'TEXT_ONLY' };
const TOO_LARGE: WireEnd = { code: 1009, reason: 'PAYLOAD_TOO_LARGE' };

/**
 * One WebSocket. Messages are framed here and written to the socket directly. That is sound because the WebSocket's own writer, without
 * compression, writes whole frames at once too.
 */
export class WebSocketWire implements FrameWire {
  readonly transport = 'websocket';
  readonly form = WEBSOCKET_FORM;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #reader: WireReader;
  #missed = 0;
  #pings = 0;
  /** Callbacks that wait for the answer to a ping, by its number. */
  readonly #trips = new Map<number, () => void>();
  /** Bytes that the peer had taken at the last beat; undefined if none were waiting. */
  #sentBefore: number | undefined;

  constructor(webSocket: WebSocket, socket: Duplex, readerOf: (wire: WebSocketWire) => WireReader) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#reader = readerOf(this);
    const heard = (): void => {
      this.#missed = 0;
    };
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.#missed = 0;
      if (isBinary) this.close(NOT_TEXT);
      else this.#reader.receive(data.toString());
    });
    webSocket.on('pong', (data) => {
      heard();
      this.#arrive(Number(data.toString()));
    });
    webSocket.on('ping', () => this.#reader.pinged());
    webSocket.on('close', () => {
      this.#arrive(this.#pings);
      this.#reader.closed();
    });
    // `ws` tells the peer its error in the close code, and a `close` event follows.
    webSocket.on('error', () => {});
    socket.on('drain', () => {
      this.#missed = 0;
      this.#reader.drained();
    });
    this.#boundHello();
  }

  /** Limits the bytes of a client that is not identified yet; `ws` has one limit for all. */
  #boundHello(): void {
    let heard = 0;
    const count = (chunk: Buffer): void => {
      heard += chunk.length;
      if (this.#reader.introduced) this.#socket.off('data', count);
      else if (heard > HELLO_BYTES) {
        this.#socket.off('data', count);
        this.close(TOO_LARGE);
        // Do not read the rest of the message; the close times out by itself.
        this.#webSocket.pause();
      }
    };
    this.#socket.on('data', count);
  }

  get sent(): number {
    return sentBytes(this.#socket);
  }

  get backlog(): number {
    return this.#socket.writableLength;
  }

  send(...texts: readonly string[]): boolean {
    return this.write(textFrames(texts));
  }

  write(payload: SocketPayload): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN && writeTo(this.#socket, payload);
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  close({ code, reason }: WireEnd): void {
    // A paused socket would never see the peer's answer.
    this.#webSocket.resume();
    this.#webSocket.close(code, reason);
  }

  destroy(): void {
    this.#webSocket.terminate();
  }

  /** Calls back once the WebSocket is closed. */
  onClose(listener: () => void): void {
    this.#webSocket.once('close', listener);
  }

  /** Pings the peer, and cuts the socket of a peer that has not answered for long. */
  beat(): void {
    // A peer that takes bytes is alive. The ping stands behind the waiting bytes, so its pong cannot arrive earlier.
    if (this.#sentBefore !== undefined && this.sent > this.#sentBefore) this.#missed = 0;
    this.#sentBefore = this.backlog > 0 ? this.sent : undefined;
    this.#missed += 1;
    if (this.#missed > MISSED_PINGS) this.destroy();
    else this.#ping();
  }

  #ping(): boolean {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return false;
    this.#pings += 1;
    this.#webSocket.ping(String(this.#pings));
    return true;
  }

  /** Resolves when the peer has taken everything up to now, and all that it said until then was read; also when it is gone. */
  roundTrip(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ping()) this.#trips.set(this.#pings, resolve);
      else resolve();
    });
  }

  /** A peer may answer the last of several pings alone (RFC 6455, section 5.5.3). */
  #arrive(ping: number): void {
    for (const [number, resolve] of this.#trips) {
      if (!(number <= ping)) return;
      this.#trips.delete(number);
      resolve();
    }
  }
}

/** The first byte of a final text frame, unmasked as servers send it (RFC 6455, section 5.2). */
const TEXT = String.fromCharCode(0x81);

/** Writes texts as WebSocket messages, each in one frame, joined to one payload. */
export function textFrames(texts: readonly string[]): SocketPayload {
  let frames = '';
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (!isShareable(text, size)) return Buffer.concat(texts.flatMap(frameBytes));
    frames += headerOf(size) + text;
  }
  return new SharedText(frames);
}

function frameBytes(text: string): readonly Buffer[] {
  const body = Buffer.from(text);
  return [Buffer.from(headerOf(body.length), 'latin1'), body];
}

/** The header of a frame with a body of so many bytes, a character for each byte. */
function headerOf(size: number): string {
  if (size < 126) return TEXT + String.fromCharCode(size);
  if (size < 65_536) return TEXT + String.fromCharCode(126, size >> 8, size & 255);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(size));
  return TEXT + String.fromCharCode(127) + length.toString('latin1');
}
