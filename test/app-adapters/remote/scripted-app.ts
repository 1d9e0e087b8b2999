import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Slice } from '../../../server/app-adapters/remote/lines.js';
import { closeLater } from '../../support/resources.js';

export const SECRET = Buffer.alloc(32, 'a').toString('base64');

/** A slice that an app was called with, whose reply the test writes. */
export class AskedSlice {
  readonly slice: Slice;
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  readonly closed: Promise<unknown>;
  readonly #response: ServerResponse;

  constructor(raw: string, headers: IncomingHttpHeaders, response: ServerResponse) {
    this.raw = raw;
    this.slice = JSON.parse(raw) as Slice;
    this.headers = headers;
    this.#response = response;
    this.closed = once(response, 'close');
  }

  /** Says lines: objects, or texts as they are. */
  say(...lines: readonly (object | string)[]): this {
    if (!this.#response.headersSent) this.answer(200);
    for (const line of lines)
      this.#response.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
    return this;
  }

  answer(status: number, type = 'application/x-ndjson'): this {
    this.#response.writeHead(status, { 'content-type': type });
    this.#response.flushHeaders();
    return this;
  }

  /** Says the last lines, and ends the reply. */
  end(...lines: readonly (object | string)[]): void {
    this.say(...lines);
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }
}

/** An app elsewhere, each of whose slices the test answers. */
export class ScriptedApp {
  readonly url: string;
  readonly #waiting: AskedSlice[] = [];
  #takers: ((slice: AskedSlice) => void)[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async start(): Promise<ScriptedApp> {
    let app: ScriptedApp | undefined;
    const server = createServer(async (request, response) => {
      let raw = '';
      for await (const piece of request.setEncoding('utf8')) raw += piece as string;
      app!.#take(new AskedSlice(raw, request.headers, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closeLater(server, (it) => {
      it.close();
      it.closeAllConnections();
    });
    app = new ScriptedApp(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return app;
  }

  #take(slice: AskedSlice): void {
    const taker = this.#takers.shift();
    if (taker) taker(slice);
    else this.#waiting.push(slice);
  }

  /** The next slice that the app is called with. */
  next(): Promise<AskedSlice> {
    const waiting = this.#waiting.shift();
    return waiting ? Promise.resolve(waiting) : new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Number of slices that nobody has taken. */
  get left(): number {
    return this.#waiting.length;
  }
}
