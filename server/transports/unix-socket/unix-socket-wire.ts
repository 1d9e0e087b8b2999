import type { Socket } from 'node:net';
import { LineDecoder } from '../../../shared/ndjson.js';
import type { FrameEnvironment } from '../frames/frame-environment.js';
import { type FramePeer, type FrameWire, frameForm, HELLO_BYTES } from '../frames/frame-wire.js';
import { SocketClient } from '../frames/socket-client.js';
import { sentBytes } from '../sent-bytes.js';
import { type SocketPayload, socketPayload, writeTo } from '../shared-text.js';

/** Events as lines of JSON, built once and shared by the sockets of all subscribers. */
const NDJSON_FORM = frameForm((texts) => socketPayload(`${texts.join('\n')}\n`));

/** The peer of every client: the socket itself says nothing about it. */
const PEER: FramePeer = { request: { headers: {}, ip: '' } };

/** Time for the peer to take the last bytes before a close, in milliseconds. */
const CLOSE_MS = 2000;

/** One client of the Unix socket: frames as lines of JSON. */
export class UnixSocketWire implements FrameWire {
  readonly transport = 'unix-socket';
  readonly form = NDJSON_FORM;
  readonly #socket: Socket;
  readonly #client: SocketClient;
  readonly #lines: LineDecoder;
  readonly #bodyBytes: number;

  constructor(env: FrameEnvironment, socket: Socket) {
    this.#socket = socket;
    this.#bodyBytes = env.limits.bodyBytes;
    this.#lines = new LineDecoder(Math.min(HELLO_BYTES, this.#bodyBytes));
    this.#client = new SocketClient(env, this, PEER);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('drain', () => this.#client.drained());
    socket.on('close', () => this.#client.closed());
    // A `close` event follows.
    socket.on('error', () => {});
  }

  get backlog(): number {
    return this.#socket.writableLength;
  }

  get sent(): number {
    return sentBytes(this.#socket);
  }

  send(...texts: readonly string[]): boolean {
    return this.write(`${texts.join('\n')}\n`);
  }

  write(payload: SocketPayload | string): boolean {
    return this.#socket.writable && writeTo(this.#socket, payload);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.end();
    // Ignore further messages, but keep reading, so that the peer's end is noticed.
    this.#socket.removeAllListeners('data').resume();
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#lines.feed(chunk)) {
        if (!this.#socket.writable) return;
        this.#client.receive(line);
        if (this.#client.introduced) this.#lines.maxBytes = this.#bodyBytes;
      }
    } catch (error) {
      this.#client.fail(error);
    }
  }
}
