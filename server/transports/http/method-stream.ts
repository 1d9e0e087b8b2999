import type { ServerResponse } from 'node:http';
import { type ErrorBody, GatewayError } from '../../../shared/errors.js';
import type { StreamItem } from '../../../shared/frames.js';
import { encodeSse } from '../../../shared/sse.js';
import type { Person } from '../../auth/types.js';
import { Stall } from '../../delivery/stall.js';
import type { TickerItem } from '../../delivery/ticker.js';
import type { MethodStream } from '../../methods/stream.js';
import { jsonText } from '../../schema/json-text.js';
import { errorBody, type FailedRequest } from '../public-error.js';
import { sentBytes } from '../sent-bytes.js';
import type { HttpEnvironment } from './http-environment.js';
import { flushResponse, startSse } from './sse-sink.js';

/** The form in which the items of a stream are written. */
export interface ItemForm {
  /** Sends the head. */
  start(response: ServerResponse): void;
  /** The first text, which tells a client how long a silence may last. */
  readonly hello?: (heartbeatMs: number) => string;
  item(item: StreamItem): string;
  /** Text that readers skip. It keeps proxies from closing a quiet stream. */
  readonly heartbeat?: string;
  /** The last text. */
  readonly end?: string;
  /** The last text of a stream that fails. Without it the response is cut off. */
  readonly fail?: (error: ErrorBody) => string;
}

/** SSE of `chunk` … `end`, or `fail` when the stream breaks off. */
const SSE: ItemForm = {
  start: startSse,
  hello: (heartbeatMs) => encodeSse('ping', JSON.stringify({ heartbeatMs })),
  // A place without an item is an event of its own, because the data of a `chunk` may be any value.
  item: ({ data, eventId }) =>
    encodeSse(data === undefined ? 'mark' : 'chunk', jsonText(data ?? null) ?? 'null', eventId),
  // This is a comment of SSE (HTML standard, section 9.2.6).
  heartbeat: ':\n\n',
  end: encodeSse('end', '{}'),
  fail: (error) => encodeSse('fail', JSON.stringify(error)),
};

/** A stream, and its caller. */
interface StreamCall {
  readonly stream: MethodStream;
  readonly caller: FailedRequest & { readonly person: Person };
}

/** Answers with the items of a stream. */
export async function streamItems(
  env: HttpEnvironment,
  response: ServerResponse,
  { stream, caller }: StreamCall,
  form: ItemForm = SSE,
): Promise<void> {
  // Denials and bad params are answered with their own status, before the stream begins.
  await stream.open();
  const answer = new MethodStreamAnswer(env, response, { stream, caller }, form);
  env.ticker.add(answer);
  try {
    await answer.write();
  } finally {
    env.ticker.delete(answer);
  }
}

/** One open stream. The method is asked for the next item only when the client has taken those before. */
class MethodStreamAnswer implements TickerItem {
  readonly #env: HttpEnvironment;
  readonly #response: ServerResponse;
  readonly #stream: MethodStream;
  readonly #person: Person;
  readonly #request: FailedRequest;
  readonly #form: ItemForm;
  /** Set while the receiver does not keep up. */
  #stall: Stall | null = null;
  #wroteAt = performance.now();

  constructor(
    env: HttpEnvironment,
    response: ServerResponse,
    { stream, caller }: StreamCall,
    form: ItemForm,
  ) {
    this.#env = env;
    this.#response = response;
    this.#stream = stream;
    this.#person = caller.person;
    this.#request = caller;
    this.#form = form;
  }

  async write(): Promise<void> {
    const response = this.#response;
    const gone = (): void => {
      this.#stream.return().catch((error: unknown) => this.#env.report(error, 'ending a streaming method'));
    };
    if (response.closed) return gone();
    response.once('close', gone);
    const { start, hello, item, end, fail } = this.#form;
    start(response);
    if (hello) this.#write(hello(this.#env.limits.heartbeatMs));
    try {
      for await (const next of this.#stream) {
        if (response.closed) return;
        this.#write(item(next));
        if (this.#stall) await this.#drained();
      }
      if (!response.closed) response.end(end);
    } catch (error) {
      const shown = errorBody(error, this.#env.report, this.#request);
      if (response.closed) return;
      if (fail) response.end(fail(shown));
      else response.destroy();
    }
  }

  tick(now: number): void {
    const { expiresAt } = this.#person;
    const { heartbeatMs, slowClientMs } = this.#env.limits;
    const expired = expiresAt !== undefined && Date.now() >= expiresAt;
    if (this.#stall) {
      if (expired || this.#stall.isOver(now, slowClientMs)) this.#response.destroy();
    } else if (expired) {
      this.#stream.stop(new GatewayError({ code: 'UNAUTHENTICATED', message: 'The token has expired' }));
    } else if (this.#form.heartbeat && now - this.#wroteAt >= heartbeatMs) this.#write(this.#form.heartbeat);
  }

  #write(text: string): void {
    this.#wroteAt = performance.now();
    const response = this.#response;
    if (response.closed || response.writableEnded) return;
    if (!response.write(text)) this.#stall ??= new Stall({ sent: () => sentBytes(response.socket) });
    flushResponse(response);
  }

  /** Resolves when there is room again, or the client has left. */
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
