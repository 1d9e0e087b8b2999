import { GatewayError } from '../../../shared/errors.js';
import type { RequestFrame, ServerFrame } from '../../../shared/frames.js';
import { isOperation } from '../../../shared/operations.js';
import type { EventConnection } from '../../delivery/connection.js';
import { andThen, isPromise, type MaybePromise } from '../../maybe-promise.js';
import type { MethodStream } from '../../methods/stream.js';
import type { PlainOperation } from '../../operations/operations.js';
import { publicError } from '../public-error.js';
import { ChunkWindow } from './chunk-window.js';
import type { FrameEnvironment } from './environment.js';
import { FrameCall } from './frame-call.js';
import type { FrameWire } from './frame-wire.js';

/** Requests of one client that may be under way. */
const CALLS = 1000;
/** Unsent answers, in bytes, above which no more requests are read. Events stop much earlier. */
const BACKLOG = 1024 * 1024;

/** Answers the requests of one client: each with exactly one `res`, after the chunks of a streaming method. */
export class RequestDesk {
  readonly #env: FrameEnvironment;
  readonly #wire: FrameWire;
  readonly #answered: () => void;
  readonly #calls = new Map<string, FrameCall>();
  readonly #windows = new Map<FrameCall, ChunkWindow>();
  #waiting: (() => void)[] | null = null;
  #paused = false;
  #closed = false;

  /** @param answered Called after each answer. */
  constructor(env: FrameEnvironment, wire: FrameWire, answered: () => void) {
    this.#env = env;
    this.#wire = wire;
    this.#answered = answered;
  }

  /** Whether nothing is being answered. */
  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** Performs a request; a promise resolves once it is answered. Never throws. */
  answer(frame: RequestFrame, connection: EventConnection): MaybePromise<void> {
    const { id } = frame;
    if (this.#calls.has(id)) {
      const text = `A request with the id ${JSON.stringify(id)} is not answered yet`;
      this.send({ type: 'error', ...new GatewayError({ code: 'INVALID_REQUEST', message: text }).toJSON() });
      return;
    }
    if (this.#calls.size >= CALLS)
      return this.refuse(id, new GatewayError({ code: 'RATE_LIMITED', retryAfterMs: 1000 }));
    const call = new FrameCall(connection, frame.method === 'invoke' || !isOperation(frame.method));
    this.#calls.set(id, call);
    const failed = (error: unknown): void => this.#finish(id, call, error);
    try {
      const payload = this.#perform(frame, call);
      if (isPromise(payload)) return payload.then((value) => this.#finish(id, call, null, value), failed);
      this.#finish(id, call, null, payload);
    } catch (error) {
      failed(error);
    }
  }

  /** Answers a request with an error. */
  refuse(id: string, error: unknown): void {
    this.send({ type: 'res', id, ok: false, error: publicError(error, this.#env.report).toJSON() });
  }

  /** Ends a method call. */
  cancel(id: string): void {
    const call = this.#calls.get(id);
    if (!call?.cancellable) return;
    this.#finish(id, call, new GatewayError({ code: 'ABORTED' }));
    call.abort();
  }

  /** A streaming call may send so many more chunks. */
  more(id: string, count: number): void {
    const call = this.#calls.get(id);
    if (call) this.#windows.get(call)?.more(count);
  }

  /** Writes a frame. A client that asks without reading is not read from until it does. */
  send(frame: ServerFrame): boolean {
    if (this.#closed) return false;
    const writable = this.#wire.send(JSON.stringify(frame));
    if (!writable && !this.#paused && this.#wire.backlog > BACKLOG) {
      this.#paused = true;
      this.#wire.pause();
    }
    return writable;
  }

  /** The receiver has caught up. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const wake of waiting ?? []) wake();
    if (!this.#paused) return;
    this.#paused = false;
    this.#wire.resume();
  }

  /** The client is gone: nothing more is answered, and methods learn of it. */
  close(): void {
    this.#closed = true;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) if (call.cancellable) call.abort();
    for (const window of this.#windows.values()) window.close();
    this.drained();
  }

  #perform({ id, method, params, window }: RequestFrame, call: FrameCall): MaybePromise<unknown> {
    const { operations } = this.#env;
    if (method === 'send') return operations.send(params, call).then((sent) => sent.accepted);
    if (method === 'subscribe') return operations.execute(method, ownSubscription(params, call), call);
    const own = method === 'invoke';
    if (!own && isOperation(method)) return operations.execute(method as PlainOperation, params, call);
    const invocation = operations.invoke(own ? params : { method, params }, call);
    return andThen(
      invocation,
      (outcome): MaybePromise<unknown> =>
        outcome.kind === 'stream'
          ? this.#stream(id, call, { stream: outcome.stream, window })
          : outcome.value,
    );
  }

  async #stream(
    id: string,
    call: FrameCall,
    { stream, window: size }: { readonly stream: MethodStream; readonly window: number | undefined },
  ): Promise<void> {
    const window = new ChunkWindow(size);
    this.#windows.set(call, window);
    await stream.open();
    for await (const item of stream) {
      await window.take();
      if (this.#calls.get(id) !== call) return;
      if (!this.send({ type: 'chunk', id, data: item ?? null })) await this.#caughtUp();
    }
  }

  #caughtUp(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  #finish(id: string, call: FrameCall, error: unknown, payload?: unknown): void {
    if (this.#calls.get(id) !== call) return;
    this.#calls.delete(id);
    this.#windows.get(call)?.close();
    this.#windows.delete(call);
    if (error) this.refuse(id, error);
    else {
      try {
        this.send({ type: 'res', id, ok: true, payload });
      } catch (cause) {
        // The result is no JSON.
        this.refuse(id, cause);
      }
    }
    this.#answered();
  }
}

/** A socket changes its own subscriptions; which connection that is, is not the client's to say. */
function ownSubscription(params: unknown, { connectionId }: FrameCall): unknown {
  return typeof params === 'object' && !Array.isArray(params) ? { ...params, connectionId } : params;
}
