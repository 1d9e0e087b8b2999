import type { Duplex } from 'node:stream';
import type { FrameEnvironment } from '../frames/frame-environment.js';
import {
  type FramePeer,
  type FrameWire,
  frameForm,
  HELLO_BYTES,
  type WireEnd,
} from '../frames/frame-wire.js';
import { SocketClient } from '../frames/socket-client.js';
import { sentBytes } from '../sent-bytes.js';
import type { WebSocket } from './ws.js';

/** Pings without a sign of life after which a peer counts as dead. */
const MISSED_PINGS = 2;

/** Events as WebSocket frames, built once and written to every subscriber's socket as they are. */
export const WEBSOCKET_FORM = frameForm(encodeTextFrames);

const NOT_TEXT: WireEnd = { code: 1003, reason: 'TEXT_ONLY' };
const TOO_LARGE: WireEnd = { code: 1009, reason: 'PAYLOAD_TOO_LARGE' };

/**
 * One WebSocket. What goes out is framed here and written to the socket itself, which is sound because the WebSocket's own writer,
 * without compression, writes whole frames at once too.
 */
export class WebSocketWire implements FrameWire {
  readonly transport = 'websocket';
  readonly form = WEBSOCKET_FORM;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #client: SocketClient;
  #missed = 0;
  /** What had left at the last beat, where more was waiting. */
  #sentBefore: number | undefined;

  constructor(env: FrameEnvironment, webSocket: WebSocket, peer: FramePeer & { readonly socket: Duplex }) {
    this.#webSocket = webSocket;
    this.#socket = peer.socket;
    this.#client = new SocketClient(env, this, { request: peer.request, user: peer.user });
    const heard = (): void => {
      this.#missed = 0;
    };
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.#missed = 0;
      if (isBinary) this.close(NOT_TEXT);
      else this.#client.receive(data.toString());
    });
    webSocket.on('pong', heard);
    webSocket.on('ping', () => this.#client.pinged());
    webSocket.on('close', () => this.#client.closed());
    // What the peer did wrong is told by the close code that ws sends, and the close follows.
    webSocket.on('error', () => {});
    peer.socket.on('drain', () => {
      this.#missed = 0;
      this.#client.drained();
    });
    this.#boundHello();
  }

  /** Strangers may say less than those who are known; ws has one bound for all. */
  #boundHello(): void {
    let heard = 0;
    const count = (chunk: Buffer): void => {
      heard += chunk.length;
      if (this.#client.introduced) this.#socket.off('data', count);
      else if (heard > HELLO_BYTES) {
        this.#socket.off('data', count);
        this.close(TOO_LARGE);
        // The rest of it is not taken in; the close times out by itself.
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

  send(text: string): boolean {
    return this.write(encodeTextFrame(text));
  }

  write(payload: Buffer): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN && this.#socket.write(payload);
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

  /** Calls back once it is closed. */
  onClose(listener: () => void): void {
    this.#webSocket.once('close', listener);
  }

  /** Asks for a sign of life, and gives up on a peer that gave none for long. */
  beat(): void {
    // A peer that takes what waits for it lives; the ping comes after that, and no pong before.
    if (this.#sentBefore !== undefined && this.sent > this.#sentBefore) this.#missed = 0;
    this.#sentBefore = this.backlog > 0 ? this.sent : undefined;
    this.#missed += 1;
    if (this.#missed > MISSED_PINGS) this.destroy();
    else if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
  }
}

/** A final text frame, unmasked as servers send it (RFC 6455, section 5.2). */
const TEXT = 0x81;

/** Writes a text as a WebSocket message in one frame. */
export function encodeTextFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(headerSize(length) + length);
  bytes.write(text, writeHeader(bytes, 0, length), length);
  return bytes;
}

/** Writes texts as WebSocket messages, each in one frame, all in one piece of bytes. */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  let size = 0;
  const lengths = texts.map((text) => {
    const length = Buffer.byteLength(text);
    size += headerSize(length) + length;
    return length;
  });
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    const length = lengths[i]!;
    at = writeHeader(bytes, at, length);
    at += bytes.write(text, at, length);
  }
  return bytes;
}

function headerSize(length: number): number {
  if (length < 126) return 2;
  return length < 65_536 ? 4 : 10;
}

function writeHeader(bytes: Buffer, at: number, length: number): number {
  bytes[at] = TEXT;
  if (length < 126) {
    bytes[at + 1] = length;
    return at + 2;
  }
  if (length < 65_536) {
    bytes[at + 1] = 126;
    return bytes.writeUInt16BE(length, at + 2);
  }
  bytes[at + 1] = 127;
  bytes.writeUInt32BE(Math.floor(length / 2 ** 32), at + 2);
  return bytes.writeUInt32BE(length % 2 ** 32, at + 6);
}
