import type { GatewayError } from '../../shared/errors.js';
import type { Turn } from '../apps/application.js';
import type { AgentBounds, AgentHeaders } from './agent-options.js';
import { EventFramer } from './event-framer.js';
import { invalidReply } from './invalid-reply.js';
import { traceHeaders } from './trace-headers.js';
import { upstreamFailed } from './upstream-failed.js';

export interface AgentFetchOptions {
  /** The origins that may be asked. */
  readonly origins: ReadonlySet<string>;
  readonly headers: AgentHeaders;
  readonly bounds: AgentBounds;
  /** Resolves once more of a reply is wanted; undefined if that is so. */
  readonly wanted?: () => Promise<void> | undefined;
}

/**
 * The `fetch` of a client library for the requests of one turn. It keeps the bounds, and carries the sender's trace. A reply that breaks off ends for the
 * library, and `failure` has the reason: libraries lose what came before an error.
 */
export class AgentFetch {
  /** The reason for which the last reply broke off, or could not begin; null if it did neither. */
  failure: GatewayError | null = null;
  /** Whether the last reply has begun with a good status. */
  isReplying = false;
  readonly #turn: Pick<Turn, 'signal' | 'traceparent'>;
  readonly #options: AgentFetchOptions;

  constructor(turn: Pick<Turn, 'signal' | 'traceparent'>, options: AgentFetchOptions) {
    this.#turn = turn;
    this.#options = options;
  }

  /** Sends a request, as `fetch` does. @throws GatewayError `UPSTREAM_FAILED`, `APP_REPLY_INVALID` */
  readonly fetch = async (
    input: string | URL | Request,
    { signal, headers, ...init }: RequestInit = {},
  ): Promise<Response> => {
    this.failure = null;
    this.isReplying = false;
    const cut = new AbortController();
    try {
      const url = new URL(input instanceof Request ? input.url : input);
      if (!this.#options.origins.has(url.origin))
        throw invalidReply(`it names an address at ${url.origin}, which is not among its origins`);
      const sent = new Headers(headers ?? {});
      for (const [name, value] of Object.entries({ ...traceHeaders(this.#turn), ...this.#options.headers }))
        sent.set(name, value);
      const signals = [cut.signal, this.#turn.signal, ...(signal ? [signal] : [])];
      const request = fetch(input, {
        ...init,
        headers: sent,
        redirect: 'error',
        signal: AbortSignal.any(signals),
      });
      const response = await this.#within(request, cut);
      this.isReplying = response.ok;
      return this.#bounded(response, cut);
    } catch (error) {
      this.#fail(error, cut);
      throw this.failure;
    }
  };

  /** The same response, whose body is bounded. */
  #bounded(response: Response, cut: AbortController): Response {
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    const framer = new EventFramer(this.#options.bounds, isStream);
    const reader = body.getReader();
    const bounded = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            for (;;) {
              await this.#options.wanted?.();
              const { done, value } = await this.#within(reader.read(), cut);
              const whole = done ? framer.end() : framer.take(value);
              if (whole.length > 0) controller.enqueue(whole);
              if (done) return controller.close();
              if (whole.length > 0) return;
            }
          } catch (error) {
            this.#fail(error, cut);
            controller.close();
          }
        },
        cancel: () => cut.abort(),
      },
      { highWaterMark: 0 },
    );
    return new Response(bounded, { status, statusText, headers });
  }

  #fail(error: unknown, cut: AbortController): void {
    this.failure = upstreamFailed(error);
    cut.abort();
  }

  /** Waits for the agent, as long as it may be silent. */
  async #within<T>(work: Promise<T>, cut: AbortController): Promise<T> {
    const { silenceMs } = this.#options.bounds;
    const silent = new Error(`The agent said nothing for ${silenceMs} ms`);
    const timer = setTimeout(() => cut.abort(silent), silenceMs);
    try {
      return await work;
    } catch (error) {
      throw cut.signal.reason === silent ? silent : error;
    } finally {
      clearTimeout(timer);
    }
  }
}
