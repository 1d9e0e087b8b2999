import { setTimeout as delay } from 'node:timers/promises';
import { signatureOf } from '../../../runtime/signature.js';
import type { Slice } from '../lines.js';
import { secretsOf } from '../options.js';
import type { ServeAppOptions } from './serve-app.js';
import type { ServedApp } from './served-app.js';
import { runSlice, sliceOf } from './served-slice.js';

/** Options of `pullWork`. */
export interface PullOptions extends ServeAppOptions {
  /** Address of the gateway's `workPlugin`, such as `https://example.com/work`. */
  readonly url: string;
  /** The name of the app there. */
  readonly name: string;
  /** Slices at a time. @default 8 */
  readonly atOnce?: number;
}

/** Work that is being pulled. */
export interface PullWorker {
  /** Ends it with the slices under way, which others go on with. */
  close(): Promise<void>;
}

const WAIT_MS = 20_000;
const BACK_OFF = { fromMs: 200, toMs: 10_000 } as const;

/**
 * Asks a gateway for slices of an app, and answers them, from a process that the gateway cannot call.
 *
 * @throws GatewayError `INVALID_PARAMS` for an invalid secret
 */
export function pullWork(app: ServedApp, options: PullOptions): PullWorker {
  const { atOnce = 8, onError = () => {} } = options;
  const [secret] = secretsOf(options);
  const puller = new WorkPuller(app, { ...options, secret: secret!, onError });
  const all = Promise.all(Array.from({ length: atOnce }, () => puller.pull()));
  return {
    close: async () => {
      puller.close();
      await all;
    },
  };
}

interface PullerOptions {
  readonly url: string;
  readonly name: string;
  readonly secret: string;
  onError(error: unknown): void;
}

class WorkPuller {
  readonly #app: ServedApp;
  readonly #options: PullerOptions;
  readonly #closed = new AbortController();

  constructor(app: ServedApp, options: PullerOptions) {
    this.#app = app;
    this.#options = options;
  }

  close(): void {
    this.#closed.abort();
  }

  async pull(): Promise<void> {
    const { signal } = this.#closed;
    let failed = 0;
    while (!signal.aborted) {
      try {
        const slice = await this.#next();
        if (slice) await this.#answer(slice);
        failed = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onError(error);
        const pause = Math.min(BACK_OFF.fromMs * 2 ** failed, BACK_OFF.toMs);
        failed += 1;
        await delay(pause, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #next(): Promise<Slice | null> {
    const response = await this.#fetch('', { query: `&waitMs=${WAIT_MS}` });
    if (response.status === 204) return null;
    if (response.status !== 200)
      throw new Error(`The gateway answered ${response.status}: ${await response.text()}`);
    return sliceOf(await response.text());
  }

  async #answer(slice: Slice): Promise<void> {
    const left = new AbortController();
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const encoder = new TextEncoder();
    const gone = (): void => left.abort();
    writer.closed.catch(gone);
    this.#closed.signal.addEventListener('abort', gone, { once: true });
    const sent = this.#fetch(`/${slice.id}`, { body: body.readable });
    // An answer before the end says that the slice is over.
    sent.then(gone, gone);
    const sink = {
      signal: left.signal,
      write: (lines: string) => writer.write(encoder.encode(lines)).catch(gone),
    };
    await runSlice(this.#app, slice, { sink, onError: this.#options.onError });
    await writer.close().catch(() => {});
    const response = await sent.catch(() => null);
    if (response?.status === 400) throw new Error(`The gateway refused a line: ${await response.text()}`);
    await response?.body?.cancel();
    this.#closed.signal.removeEventListener('abort', gone);
  }

  #fetch(
    path: string,
    { query = '', body }: { readonly query?: string; readonly body?: ReadableStream },
  ): Promise<Response> {
    const { url, name, secret } = this.#options;
    const id = `pull_${crypto.randomUUID()}`;
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      ...{ 'webhook-id': id, 'webhook-timestamp': `${timestamp}` },
      'webhook-signature': signatureOf({ id, timestamp, body: '' }, secret),
      ...(body && { 'content-type': 'application/x-ndjson' }),
    };
    return fetch(`${url.replace(/\/$/, '')}${path}?app=${encodeURIComponent(name)}${query}`, {
      ...{ headers, signal: this.#closed.signal },
      ...(body && { method: 'POST', body, duplex: 'half' }),
    } as RequestInit);
  }
}
