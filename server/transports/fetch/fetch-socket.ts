import { Writable } from 'node:stream';
import { GatewayError } from '../../../shared/errors.js';

/** Bytes of a response that may wait for the reader, besides those in Node's own write buffer. */
const READ_AHEAD = 65_536;
const HEAD_END = '\r\n\r\n';
/** Headers about the transfer itself. The host sets its own (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** Facts about the real connection of a `FetchSocket`. */
export interface FetchSocketOptions {
  /** Whether the request came over TLS. */
  readonly encrypted: boolean;
  /** The client's address; empty when it is not known. */
  readonly ip: string;
}

/**
 * Stands for the connection of a Node response: takes the bytes that Node writes, reports the head as soon as it is complete, and passes
 * the rest on as a web stream. It takes no more than the reader asks for, and closes when the reader leaves.
 */
export class FetchSocket extends Writable {
  readonly encrypted: boolean;
  readonly remoteAddress: string;
  readonly body: ReadableStream<Uint8Array>;
  readonly #onHead: (head: ResponseHead) => void;
  #head: Buffer | null = Buffer.alloc(0);
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #blocked: (() => void) | null = null;
  #over = false;

  constructor({ encrypted, ip }: FetchSocketOptions, onHead: (head: ResponseHead) => void) {
    super();
    this.encrypted = encrypted;
    this.remoteAddress = ip;
    this.#onHead = onHead;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#resume(),
        cancel: () => {
          this.#over = true;
          this.destroy();
        },
      },
      { highWaterMark: READ_AHEAD, size: (chunk) => chunk.byteLength },
    );
  }

  /** Closes the socket for a reader that has left. The stream ends without an error, because many hosts would log one. */
  leave(): void {
    this.#finish();
    this.destroy();
  }

  /** Does nothing: the host has the connection and its time-outs. */
  setTimeout(): this {
    return this;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: (error?: Error) => void): void {
    const rest = this.#head ? this.#takeHead(Buffer.concat([this.#head, chunk])) : chunk;
    if (!rest || rest.length === 0) return written();
    // Copy the bytes: the gateway shares one buffer among all subscribers of a session, and a reader may change its own.
    this.#controller.enqueue(new Uint8Array(rest));
    if ((this.#controller.desiredSize ?? 0) > 0) written();
    else this.#blocked = written;
  }

  override _final(done: (error?: Error) => void): void {
    this.#finish();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#blocked = null;
    if (!this.#over) this.#controller.error(error ?? cutOff());
    done(error);
  }

  #finish(): void {
    if (!this.#over) this.#controller.close();
    this.#over = true;
  }

  #resume(): void {
    const blocked = this.#blocked;
    this.#blocked = null;
    blocked?.();
  }

  /** Reads the head once it is complete, and returns the bytes behind it. Informational heads are skipped. */
  #takeHead(bytes: Buffer): Buffer | null {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = bytes;
      return null;
    }
    const head = parseHead(bytes.toString('latin1', 0, end));
    const rest = bytes.subarray(end + HEAD_END.length);
    if (head.status < 200) return this.#takeHead(rest);
    this.#head = null;
    this.#onHead(head);
    return rest;
  }
}

/** The error that the reader of an unfinished response receives. */
export function cutOff(): GatewayError {
  return new GatewayError({ code: 'INTERNAL', message: 'The response was cut off' });
}

function parseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n');
  const [, status, statusText = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(first) ?? [];
  const headers = new Headers();
  for (const line of lines) {
    const at = line.indexOf(':');
    const name = line.slice(0, at);
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.append(name, line.slice(at + 1).trim());
  }
  return { status: Number(status), statusText, headers };
}
