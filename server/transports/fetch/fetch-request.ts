import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FetchSocket } from './fetch-socket.js';

/** A web `Request` in the form of a request of Node's server. Its body is read on demand, chunk by chunk. */
export class FetchRequest extends IncomingMessage {
  readonly #body: ReadableStream<Uint8Array> | null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;

  constructor(request: Request, socket: FetchSocket) {
    super(socket as unknown as Socket);
    const { pathname, search, host } = new URL(request.url);
    this.method = request.method;
    this.url = pathname + search;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    // A body that the host has read cannot be read again.
    this.#body = request.bodyUsed ? null : request.body;
    const headers = new Map(request.headers);
    if (!headers.has('host')) headers.set('host', host);
    // A request made in memory does not say how long its body is.
    if (request.body && !headers.has('content-length')) headers.set('transfer-encoding', 'chunked');
    this.rawHeaders = [...headers].flat();
    this.headers = Object.fromEntries(headers);
    if (this.#body) return;
    this.complete = true;
    this.push(null);
  }

  override _read(size: number): void {
    // Node's own `_read` lets the stream continue by itself after the first chunk.
    super._read(size);
    this.#pull().catch((error: Error) => this.destroy(error));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#reader?.cancel().catch(() => {});
    super._destroy(error, done);
  }

  async #pull(): Promise<void> {
    this.#reader ??= this.#body!.getReader();
    const { done, value } = await this.#reader.read();
    if (this.destroyed) return;
    if (done) this.complete = true;
    this.push(done ? null : Buffer.from(value));
  }
}
