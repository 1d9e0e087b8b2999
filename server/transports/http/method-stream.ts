import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../../shared/errors.js';
import { encodeSse } from '../../../shared/sse.js';
import type { Identity } from '../../auth/types.js';
import { Stall } from '../../delivery/stall.js';
import type { Ticking } from '../../delivery/ticker.js';
import type { MethodStream } from '../../methods/stream.js';
import { publicError } from '../public-error.js';
import { sentBytes } from '../sent-bytes.js';
import type { HttpEnvironment } from './http-environment.js';
import { flushResponse, startSse } from './sse-sink.js';

/** A comment (HTML standard, section 9.2.6): readers pass it over, proxies see that somebody is there. */
const HEARTBEAT = ':\n\n';

/** Answers with the items of a streaming method: SSE of `chunk` … `end`, `fail` when it breaks off. */
export async function streamItems(
  env: HttpEnvironment,
  response: ServerResponse,
  { stream, identity }: { readonly stream: MethodStream; readonly identity: Identity },
): Promise<void> {
  // A denial or bad params are answered with their status, before the stream begins.
  await stream.open();
  const answer = new MethodStreamAnswer(env, response, { stream, identity });
  env.ticker.add(answer);
  try {
    await answer.write();
  } finally {
    env.ticker.delete(answer);
  }
}

/** One open stream. What its reader does not take, its method is not asked for. */
class MethodStreamAnswer implements Ticking {
  readonly #env: HttpEnvironment;
  readonly #response: ServerResponse;
  readonly #stream: MethodStream;
  readonly #identity: Identity;
  /** While the receiver does not keep up. */
  #stall: Stall | null = null;
  #wroteAt = performance.now();

  constructor(
    env: HttpEnvironment,
    response: ServerResponse,
    call: { readonly stream: MethodStream; readonly identity: Identity },
  ) {
    this.#env = env;
    this.#response = response;
    this.#stream = call.stream;
    this.#identity = call.identity;
  }

  async write(): Promise<void> {
    const response = this.#response;
    const gone = (): void => {
      this.#stream.return().catch((error: unknown) => this.#env.report(error, 'ending a streaming method'));
    };
    if (response.closed) return gone();
    response.once('close', gone);
    startSse(response);
    // So that a client knows how long a silence may last.
    this.#write(encodeSse('ping', JSON.stringify({ heartbeatMs: this.#env.limits.heartbeatMs })));
    try {
      for await (const { data, eventId } of this.#stream) {
        if (response.closed) return;
        // A place without an item is another event: the data of this one may be anything.
        const event = data === undefined ? 'mark' : 'chunk';
        this.#write(encodeSse(event, JSON.stringify(data ?? null), eventId));
        if (this.#stall) await this.#drained();
      }
      this.#end('end', '{}');
    } catch (error) {
      this.#end('fail', JSON.stringify(publicError(error, this.#env.report)));
    }
  }

  tick(now: number): void {
    const { expiresAt } = this.#identity;
    const { heartbeatMs, slowClientMs } = this.#env.limits;
    const expired = expiresAt !== undefined && Date.now() >= expiresAt;
    if (this.#stall) {
      if (expired || this.#stall.isOver(now, slowClientMs)) this.#response.destroy();
    } else if (expired) {
      this.#stream.stop(new GatewayError({ code: 'UNAUTHENTICATED', message: 'The token has expired' }));
    } else if (now - this.#wroteAt >= heartbeatMs) this.#write(HEARTBEAT);
  }

  #write(text: string): void {
    this.#wroteAt = performance.now();
    const response = this.#response;
    if (response.closed || response.writableEnded) return;
    if (!response.write(text)) this.#stall ??= new Stall({ sent: () => sentBytes(response.socket) });
    flushResponse(response);
  }

  #end(event: 'end' | 'fail', data: string): void {
    if (!this.#response.closed) this.#response.end(encodeSse(event, data));
  }

  /** Resolves when there is room again, or nobody left to need it. */
  #drained(): Promise<void> {
    const response = this.#response;
    return new Promise((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        this.#stall = null;
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }
}
