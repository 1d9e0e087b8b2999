import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { signatureOf } from '../../runtime/signature.js';
import type { SliceExchange, SentSlice } from './exchange.js';
import { isFault, SliceDied, statusFault } from './fault.js';
import { pour } from './pour.js';

/** Statuses besides 5xx by which an app, or what is in front of it, asks to be called again. */
const AGAIN: ReadonlySet<number> = new Set([408, 425, 429]);
/** Longest time to wait that an app may ask for, in milliseconds. */
const MAX_AFTER_MS = 60_000;

/** Time that the end of a reply may take beyond its last line, in milliseconds. */
const DRAIN_MS = 1_000;

export interface PostExchangeOptions {
  /** `http:`, `https:`, or `unix:` and the path of a socket. */
  readonly url: string;
  readonly secrets: readonly string[];
  readonly silenceMs: number;
}

/** Calls an app by POST, over connections that are kept. */
export class Post implements SliceExchange {
  readonly #options: PostExchangeOptions;
  readonly #to: { readonly url: string | URL; readonly socketPath?: string };
  readonly #agent: HttpAgent;
  readonly #request: typeof requestHttp;

  constructor(options: PostExchangeOptions) {
    this.#options = options;
    const { url } = options;
    const isSocket = url.startsWith('unix:');
    const isSecure = url.startsWith('https:');
    this.#to = isSocket
      ? { url: 'http://localhost/', socketPath: url.slice('unix:'.length) }
      : { url: new URL(url) };
    this.#agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
    this.#request = isSecure ? requestHttps : requestHttp;
  }

  async carry(slice: SentSlice): Promise<void> {
    const { signal, done } = slice;
    slice.began();
    const request = this.#send(slice);
    let response: IncomingMessage | undefined;
    const over = (): void => {
      if (response && signal.reason === done) drain(request, response);
      else request.destroy();
    };
    signal.addEventListener('abort', over, { once: true });
    try {
      response = await responseTo(request);
      refuse(response);
      await pour(response, slice);
    } catch (error) {
      request.destroy();
      throw died(error, request);
    } finally {
      if (response?.complete) signal.removeEventListener('abort', over);
    }
  }

  #send({ id, body }: SentSlice): ClientRequest {
    const { secrets, silenceMs } = this.#options;
    const { url, socketPath } = this.#to;
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = secrets.map((secret) => signatureOf({ id, timestamp, body }, secret)).join(' ');
    const request = this.#request(url, {
      ...{ method: 'POST', agent: this.#agent, ...(socketPath !== undefined && { socketPath }) },
      headers: {
        ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        ...{ accept: 'application/x-ndjson', 'user-agent': 'agent-session-gateway' },
        ...{ 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature },
      },
    });
    request.setNoDelay(true);
    request.setTimeout(silenceMs, () => {
      request.destroy(new SliceDied(`The app said nothing for ${silenceMs} ms`));
    });
    request.end(body);
    return request;
  }
}

/** The response of a request. A later fault of the request is one of the response too, and needs no second hearer. */
function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(died(error, request)));
  });
}

/** Reads the rest of a reply whose last line came, for its connection to be used again. */
function drain(request: ClientRequest, response: IncomingMessage): void {
  if (response.complete) return;
  const late = setTimeout(() => request.destroy(), DRAIN_MS).unref();
  response.once('close', () => clearTimeout(late)).resume();
}

function died(error: unknown, request: ClientRequest): unknown {
  if (error instanceof SliceDied || isFault(error)) return error;
  const stale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
  return new SliceDied("The app's connection broke", { cause: error, stale });
}

/** @throws SliceDied for a status by which the app wants to be called again; GatewayError `APP_REPLY_INVALID` for another one */
function refuse({ statusCode: status = 0, headers }: IncomingMessage): void {
  if (status >= 500 || AGAIN.has(status)) {
    const seconds = Number(headers['retry-after'] ?? 0);
    const afterMs = seconds > 0 ? Math.min(seconds * 1000, MAX_AFTER_MS) : 0;
    throw new SliceDied(`The app answered ${status}`, { afterMs });
  }
  if (status !== 200) throw statusFault(`status ${status}`);
  const type = headers['content-type'] ?? '';
  if (!/^application\/x-ndjson\s*(;|$)/i.test(type))
    throw statusFault('content-type must be application/x-ndjson');
}
