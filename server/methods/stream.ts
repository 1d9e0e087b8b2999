import { GatewayError } from '../../shared/errors.js';
import type { StreamItem } from '../../shared/frames.js';
import { isTracked } from '../../shared/tracked.js';
import { startDeadline } from '../async/deadline.js';
import type { StreamObserver } from '../diagnostics/invocation.js';
import { admit, CallContext, type CallerContext, type MethodCallBounds, validResult } from './call.js';
import { runInContext } from './context.js';
import type { MethodEntry } from './flatten.js';

/** Milliseconds that `return()` waits for the method's own clean-up before it abandons the generator. */
export const RETURN_GRACE_MS = 1_000;

interface Waiter {
  readonly resolve: (step: IteratorResult<StreamItem, void>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: IteratorReturnResult<void> = { done: true, value: undefined };

/** Bounds of one call, and the listener of its end. */
export type MethodStreamBounds = Pick<MethodCallBounds, 'guardMs' | 'ended'>;

/**
 * One call of a streaming method. The reader pulls each item, so the handler never runs ahead.
 *
 * `return()` ends it at once, also while an item is awaited: it aborts the context's signal, calls the handler's `return()` and
 * gives its clean-up a second. The caller's signal and the method's `timeoutMs` end it with `ABORTED` and `TIMEOUT`. A native
 * async generator around the handler could do none of this, since its `return()` waits for the pending `next()`.
 */
export class MethodStream implements AsyncGenerator<StreamItem, void, undefined> {
  readonly #entry: MethodEntry;
  readonly #params: unknown;
  readonly #caller: AbortSignal;
  readonly #call: CallContext;
  readonly #guardMs: number | undefined;
  readonly #onClosed: () => void;
  readonly #onCallerGone = () => this.stop(new GatewayError({ code: 'ABORTED', cause: this.#caller.reason }));
  readonly #waiting: Waiter[] = [];
  #opening: Promise<void> | undefined;
  #opener: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  #iterator: AsyncIterator<unknown> | undefined;
  #pulling = false;
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  #cancelDeadline: (() => void) | undefined;
  #observer: StreamObserver | undefined;

  constructor(
    entry: MethodEntry,
    params: unknown,
    context: CallerContext,
    { guardMs, ended = () => {} }: MethodStreamBounds,
  ) {
    this.#entry = entry;
    this.#params = params;
    this.#guardMs = guardMs;
    this.#onClosed = ended;
    this.#caller = context.signal;
    this.#call = new CallContext(context);
  }

  /** Sets the observer of the stream's end, in whose context the handler runs. Call it before the stream is opened. */
  observe(observer: StreamObserver): void {
    this.#observer = observer;
  }

  /**
   * Runs the checks and the handler up to its first item, which it does not wait for. Calling it again changes nothing.
   *
   * @throws GatewayError `GUARD_DENIED`, `INVALID_PARAMS`; `INTERNAL` when the handler returns no async iterable; and the errors of the
   *   handler.
   */
  open(): Promise<void> {
    if (!this.#opening) {
      this.#opening = new Promise((resolve, reject) => {
        this.#opener = { resolve, reject };
      });
      // Callers that only iterate learn of a failure from `next()`.
      this.#opening.catch(() => {});
      void this.#start();
    }
    return this.#opening;
  }

  next(): Promise<IteratorResult<StreamItem, void>> {
    if (this.#closed) {
      const failure = this.#failure;
      this.#failure = undefined;
      return failure ? Promise.reject(failure.error) : Promise.resolve(DONE);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      void this.#pull();
    });
  }

  async return(): Promise<IteratorResult<StreamItem, void>> {
    if (!this.#closed) {
      this.#call.abort(new GatewayError({ code: 'ABORTED' }));
      this.#close();
      await this.#cleanUp();
    }
    return DONE;
  }

  async throw(error: unknown): Promise<IteratorResult<StreamItem, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #start(): Promise<void> {
    if (this.#closed) {
      this.#opener?.resolve();
      return;
    }
    try {
      if (this.#caller.aborted) throw new GatewayError({ code: 'ABORTED', cause: this.#caller.reason });
      this.#caller.addEventListener('abort', this.#onCallerGone, { once: true });
      const { timeoutMs } = this.#entry.definition;
      const late = `${this.#entry.path} took longer than ${timeoutMs} ms`;
      this.#cancelDeadline = startDeadline(timeoutMs, () =>
        this.stop(new GatewayError({ code: 'TIMEOUT', message: late })),
      );
      this.#iterator = await this.#inCall(() => this.#run());
      this.#opener?.resolve();
    } catch (error) {
      this.#close({ error });
    }
    // The stream was ended while a check or the handler was awaited, before there was anything to clean up.
    if (this.#closed) this.#cleanUp().catch(() => {});
  }

  async #run(): Promise<AsyncIterator<unknown> | undefined> {
    const input = await admit(this.#entry, this.#params, this.#call, this.#guardMs);
    if (this.#closed) return undefined;
    const returned: unknown = await this.#entry.definition.handler(input, this.#call);
    if (typeof returned === 'object' && returned !== null && Symbol.asyncIterator in returned) {
      return (returned as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    }
    throw new GatewayError({
      code: 'INTERNAL',
      message: `${this.#entry.path} is a streaming method, but its handler returned no async iterable`,
    });
  }

  /** Serves the waiting `next()` calls one after the other. */
  async #pull(): Promise<void> {
    if (this.#pulling) return;
    this.#pulling = true;
    try {
      await this.open();
      const iterator = this.#iterator;
      while (iterator && !this.#closed && this.#waiting.length > 0) await this.#step(iterator);
    } catch {
      // `#close` has passed the failure to the waiting `next()` calls.
    } finally {
      this.#pulling = false;
    }
  }

  async #step(iterator: AsyncIterator<unknown>): Promise<void> {
    let step: IteratorResult<unknown>;
    try {
      step = await this.#inCall(() => iterator.next());
      if (typeof step !== 'object' || step === null) throw noResult(this.#entry.path);
    } catch (error) {
      this.#close({ error });
      return;
    }
    if (this.#closed) return;
    try {
      if (step.done) return this.#close();
      const value = await this.#item(step.value);
      this.#waiting.shift()?.resolve({ done: false, value });
    } catch (error) {
      this.stop(error);
    }
  }

  async #item(item: unknown): Promise<StreamItem> {
    if (!isTracked(item)) return { data: (await validResult(this.#entry, item)) ?? null };
    const { id: eventId, value } = item;
    if (value === undefined) return { eventId };
    return { data: (await validResult(this.#entry, value)) ?? null, eventId };
  }

  /** Ends the stream and its handler with a failure from outside, which the reader receives. */
  stop(error: unknown): void {
    if (this.#closed) return;
    this.#close({ error });
    this.#call.abort(error);
    // Nobody is left to learn of a failed clean-up.
    this.#cleanUp().catch(() => {});
  }

  #close(failure?: { readonly error: unknown }): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClosed();
    this.#observer?.closed(failure);
    this.#cancelDeadline?.();
    this.#caller.removeEventListener('abort', this.#onCallerGone);
    this.#call.release();
    if (failure) this.#opener?.reject(failure.error);
    else this.#opener?.resolve();
    const waiting = this.#waiting.splice(0);
    if (failure && waiting.length === 0) this.#failure = failure;
    if (failure) waiting.shift()?.reject(failure.error);
    for (const waiter of waiting) waiter.resolve(DONE);
  }

  #inCall<Result>(work: () => Result): Result {
    const run = (): Result => runInContext(this.#call, work);
    return this.#observer ? this.#observer.context(run) : run();
  }

  async #cleanUp(): Promise<void> {
    const iterator = this.#iterator;
    if (!iterator?.return) return;
    const returning = this.#inCall(async () => {
      await iterator.return?.();
    });
    await new Promise<void>((resolve, reject) => {
      const cancel = startDeadline(RETURN_GRACE_MS, resolve);
      returning.then(resolve, reject).finally(cancel);
    });
  }
}

function noResult(path: string): GatewayError {
  return new GatewayError({
    code: 'INTERNAL',
    message: `The async iterator of ${path} must return { done, value }`,
  });
}

/**
 * Calls a streaming method. The checks and the handler run at the first `next()`, or at `open()` for callers that must know of a
 * denial before they answer. See `MethodStream`.
 *
 * @throws GatewayError `INVALID_REQUEST` for a method that does not stream.
 */
export function streamMethod(
  entry: MethodEntry,
  params: unknown,
  context: CallerContext,
  options: MethodStreamBounds = {},
): MethodStream {
  if (!entry.stream) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `${entry.path} is not a streaming method` });
  }
  return new MethodStream(entry, params, context, options);
}
