import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { assertPublicHost, publicLookup } from './addresses.js';

/** Most bytes of an answer that are read. A fully read answer frees its connection for reuse. */
const READ_BYTES = 16 * 1024;
/** Longest time to read the answer, in milliseconds. */
const READ_MS = 1000;

/** A request to an address that somebody else chose. */
export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** The receiver answered with a status other than 2xx. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(status >= 300 && status < 400 ? `redirects are not followed (${status})` : `answered ${status}`);
    this.status = status;
  }
}

/** Whether the receiver says that it will never be there again. */
export const isOver = (error: unknown): boolean =>
  error instanceof Refused && (error.status === 404 || error.status === 410);

/** Posts to addresses that somebody else chose: follows no redirect, refuses private addresses unless allowed, and reads little of an answer. */
export class Poster {
  readonly #allowPrivate: boolean;
  readonly #agents: { readonly http: HttpAgent; readonly https: HttpsAgent };

  /** @param most Connections to one host at a time. */
  constructor({ allowPrivate, most }: { readonly allowPrivate: boolean; readonly most: number }) {
    this.#allowPrivate = allowPrivate;
    const options = {
      ...{ keepAlive: true, maxSockets: most, maxFreeSockets: most, timeout: 60_000 },
      ...(!allowPrivate && { lookup: publicLookup }),
    };
    this.#agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  }

  /** Resolves when the answer is 2xx. @throws Refused, or the reason why there was no answer */
  async post(posting: PostRequest): Promise<void> {
    if (!this.#allowPrivate) assertPublicHost(posting.url);
    const response = await this.#ask(posting);
    const { statusCode = 0 } = response;
    let read = 0;
    response.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > READ_BYTES) response.destroy();
    });
    // An error after the status does not change the outcome.
    response.on('error', () => {});
    const late = setTimeout(() => response.destroy(), READ_MS).unref();
    response.on('close', () => clearTimeout(late));
    if (statusCode < 200 || statusCode > 299) throw new Refused(statusCode);
  }

  #ask({ url, headers, body, signal }: PostRequest): Promise<IncomingMessage> {
    const isHttps = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const options = {
        ...{ method: 'POST', signal, agent: isHttps ? this.#agents.https : this.#agents.http },
        headers: { 'content-length': Buffer.byteLength(body), ...headers },
      };
      const request = (isHttps ? httpsRequest : httpRequest)(url, options, resolve);
      request.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error));
      request.end(body);
    });
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }
}
