import type { ServerResponse } from 'node:http';
import type { MaybePromise } from '../../maybe-promise.js';
import type { PluginContext } from '../plugin.js';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform keeps compressing proxies and middleware from holding chunks back.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
};

/** Characters that are held for one turn of the event loop at most, so that what it brings leaves in one piece. */
const BATCH = 16 * 1024;
/** Bytes that a reader may be behind before its run is read no further. */
const MOST_HELD = 128 * 1024;
const LONGEST_TIMER = 0x7fffffff;

/** A stream of chunks as server-sent events. Whoever writes waits for the reader, so next to nothing is held. */
export class ChunkStream {
  readonly #response: ServerResponse;
  readonly #slowClientMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  #text = '';
  #flushing: NodeJS.Immediate | null = null;
  #blocked: Promise<void> | null = null;

  /** Sends the head at once. */
  constructor(response: ServerResponse, { heartbeatMs, slowClientMs }: PluginContext['limits']) {
    this.#response = response;
    this.#slowClientMs = slowClientMs;
    response.writeHead(200, HEADERS);
    response.flushHeaders();
    // Keeps proxies from ending a stream in which nothing is said.
    this.#heartbeat = setInterval(
      () => this.#add(': keep-alive\n\n'),
      Math.min(heartbeatMs, LONGEST_TIMER),
    ).unref();
    response.once('close', () => clearInterval(this.#heartbeat));
  }

  /** Writes a chunk. Where it returns a promise, that resolves when more can be taken, or the reader has gone. */
  write(chunk: unknown): MaybePromise<void> {
    this.#heartbeat.refresh();
    this.#add(`data: ${JSON.stringify(chunk)}\n\n`);
    if (this.#text.length >= BATCH) this.#flush();
    if (this.#blocked) return this.#blocked;
  }

  #add(text: string): void {
    if (this.#blocked && text.startsWith(':')) return;
    this.#text += text;
    this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#flushing = null;
    const response = this.#response;
    const text = this.#text;
    this.#text = '';
    if (text === '' || response.closed || response.writableEnded) return;
    if (!response.write(text) && response.writableLength >= MOST_HELD) this.#blocked ??= this.#drained();
    // Compressing middleware has this to pass on what it holds.
    (response as { flush?: () => void }).flush?.();
  }

  #drained(): Promise<void> {
    const response = this.#response;
    return new Promise((resolve) => {
      const slow =
        this.#slowClientMs <= LONGEST_TIMER
          ? setTimeout(() => response.destroy(), this.#slowClientMs).unref()
          : undefined;
      const done = (): void => {
        clearTimeout(slow);
        response.off('drain', done).off('close', done);
        this.#blocked = null;
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  /** Ends the stream with the text of one more event. */
  end(last: string): void {
    clearInterval(this.#heartbeat);
    this.#add(`data: ${last}\n\n`);
    this.#flush();
    this.#response.end();
  }
}
