import { GatewayError } from '../../../shared/errors.js';
import type { RequestFrame, ServerFrame } from '../../../shared/frames.js';
import type { ParentSpan } from '../../../shared/method.js';
import { OPERATION_WORDS } from '../../../shared/operation-words.js';
import { beginsRun, isOperation, isStreamed } from '../../../shared/operations.js';
import { isLater, type MaybeLater } from '../../async/eventual.js';
import { andThen, isPromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';
import type { EventConnection } from '../../delivery/connection.js';
import type { LogFacts } from '../../diagnostics/log-facts.js';
import { parseTraceparent } from '../../diagnostics/traceparent.js';
import { newRequestId, newTraceId } from '../../ids.js';
import type { MethodStream } from '../../methods/stream.js';
import { type CallTarget, callFacts } from '../../operations/call-facts.js';
import type { Caller } from '../../operations/caller.js';
import type { Invocation } from '../../operations/invoke.js';
import type { PlainOperation } from '../../operations/operations.js';
import { jsonText } from '../../schema/json-text.js';
import { errorBody } from '../public-error.js';
import { ChunkWindow } from './chunk-window.js';
import type { FrameEnvironment } from './frame-environment.js';
import type { FrameWire } from './frame-wire.js';

/** Requests of one client that may be open at once. */
const CALLS = 1000;
/** Bytes of unsent answers above which no more requests are begun. Events stop much earlier. */
const BACKLOG = 1024 * 1024;
/** Operations of the table that run at the same time, so that their answers can't pile up before one of them is written. */
const OPERATIONS_AT_ONCE = 8;

/** Answers each request of one client with exactly one `res`, after the chunks of a streaming method. */
export class RequestDesk {
  readonly #env: FrameEnvironment;
  readonly #wire: FrameWire;
  readonly #answered: () => void;
  readonly #blocked: () => void;
  readonly #calls = new Map<string, FrameCall>();
  /** Requests that have not begun. */
  readonly #queue: { readonly plain: boolean; begin(): void }[] = [];
  #operating = 0;
  #waiting: (() => void)[] | null = null;
  #paused = false;
  #closed = false;

  /** @param hooks `answered` is called after each answer, `blocked` when the receiver does not keep up. */
  constructor(
    env: FrameEnvironment,
    wire: FrameWire,
    hooks: { readonly answered: () => void; readonly blocked: () => void },
  ) {
    this.#env = env;
    this.#wire = wire;
    this.#answered = hooks.answered;
    this.#blocked = hooks.blocked;
  }

  /** Whether nothing is being answered. */
  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** Performs a request, in its turn. A returned promise settles when the request is answered. Never throws. */
  answer(frame: RequestFrame, connection: EventConnection): MaybeLater<unknown> {
    const { id } = frame;
    if (this.#calls.has(id)) {
      const text = `A request with the id ${JSON.stringify(id)} is not answered yet`;
      this.send({ type: 'error', ...new GatewayError({ code: 'INVALID_REQUEST', message: text }).toJSON() });
      return;
    }
    if (this.#calls.size >= CALLS)
      return this.refuse(id, new GatewayError({ code: 'RATE_LIMITED', retryAfterMs: 1000 }));
    const call = new FrameCall(connection, frame, isCall(frame.method));
    this.#calls.set(id, call);
    const plain = !call.cancellable && !beginsRun(frame.method);
    if (this.#mayBegin(plain)) return this.#begin(plain, frame, call);
    return new Promise<void>((resolve) => {
      const done = (): void => resolve();
      const begin = (): void => {
        const doing = this.#begin(plain, frame, call);
        if (isLater(doing)) doing.then(done, done);
        else done();
      };
      this.#queue.push({ plain, begin });
    });
  }

  #mayBegin(plain: boolean): boolean {
    return !this.#paused && !(plain && this.#operating >= OPERATIONS_AT_ONCE);
  }

  #begin(plain: boolean, frame: RequestFrame, call: FrameCall): MaybeLater<unknown> {
    if (!plain) return this.#do(frame, call);
    this.#operating += 1;
    const done = (): void => {
      this.#operating -= 1;
      this.#beginNext();
    };
    const doing = this.#do(frame, call);
    if (isLater(doing)) doing.then(done, done);
    else done();
    return doing;
  }

  /** Begins the queued requests that may begin by now, in order. */
  #beginNext(): void {
    for (;;) {
      const at = this.#queue.findIndex(({ plain }) => this.#mayBegin(plain));
      if (at < 0) return;
      this.#queue.splice(at, 1)[0]!.begin();
    }
  }

  /** Performs and answers. Never throws. */
  #do(frame: RequestFrame, call: FrameCall): MaybeLater<unknown> {
    const { id } = frame;
    // The request was cancelled, or its client left, while it waited.
    if (this.#calls.get(id) !== call) return;
    const failed = (error: unknown): void => this.#finish(id, call, undefined, { error });
    try {
      const payload = this.#perform(frame, call);
      if (isLater(payload)) payload.then((value) => this.#finish(id, call, value), failed);
      else this.#finish(id, call, payload);
      return payload;
    } catch (error) {
      failed(error);
    }
  }

  /** Answers a request with an error. */
  refuse(id: string, error: unknown, call?: FrameCall): void {
    this.send({ type: 'res', id, ok: false, error: errorBody(error, this.#env.report, call) });
  }

  /** Ends a method call. */
  cancel(id: string): void {
    const call = this.#calls.get(id);
    if (!call?.cancellable) return;
    this.#finish(id, call, undefined, { error: new GatewayError({ code: 'ABORTED' }) });
    call.abort();
  }

  /** Lets a streaming call send so many more chunks. */
  more(id: string, count: number): void {
    this.#calls.get(id)?.window?.more(count);
  }

  /** Writes a frame. Stops reading from a client that sends requests without reading the answers, until it reads them. */
  send(frame: ServerFrame): boolean {
    if (this.#closed) return false;
    const writable = this.#wire.send(jsonText(frame)!);
    if (!writable) this.#blocked();
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
    this.#beginNext();
  }

  /** The client is gone. Nothing more is answered, and running methods are aborted. */
  close(): void {
    this.#closed = true;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) {
      if (call.cancellable) call.abort();
      call.window?.close();
    }
    this.drained();
    for (const { begin } of this.#queue.splice(0)) begin();
  }

  #perform({ id, method, params, window }: RequestFrame, call: FrameCall): MaybeLater<unknown> {
    const { operations } = this.#env;
    if (beginsRun(method)) return operations.start(method, params, call).then((sent) => sent.accepted);
    const own = method === 'invoke';
    if (method === 'export')
      return andThen(operations.export(params, call), (late) => this.#outcome(id, call, late, window));
    if (!own && isOperation(method)) {
      const { ofConnection } = OPERATION_WORDS[method];
      const given = ofConnection ? onOwnConnection(params, call) : params;
      return operations.execute(method as PlainOperation, given, call);
    }
    const invocation = operations.invoke(own ? params : { method, params }, call);
    return isPromise(invocation)
      ? invocation.then((late) => this.#outcome(id, call, late, window))
      : this.#outcome(id, call, invocation, window);
  }

  #outcome(
    id: string,
    call: FrameCall,
    invocation: Invocation,
    window: number | undefined,
  ): MaybeLater<unknown> {
    if (invocation.kind === 'value') return invocation.value;
    return this.#stream(id, call, { stream: invocation.stream, window });
  }

  async #stream(
    id: string,
    call: FrameCall,
    { stream, window: size }: { readonly stream: MethodStream; readonly window: number | undefined },
  ): Promise<void> {
    const window = new ChunkWindow(size);
    call.window = window;
    await stream.open();
    for await (const item of stream) {
      await window.take();
      if (this.#calls.get(id) !== call) return;
      if (!this.send({ type: 'chunk', id, ...item })) await this.#caughtUp();
    }
  }

  #caughtUp(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** @param failure The thrown value, boxed because `undefined` can be thrown too */
  #finish(id: string, call: FrameCall, payload: unknown, failure?: { readonly error: unknown }): void {
    if (this.#calls.get(id) !== call) return;
    this.#calls.delete(id);
    call.window?.close();
    try {
      if (failure) this.refuse(id, failure.error, call);
      else this.send({ type: 'res', id, ok: true, payload });
    } catch (cause) {
      // The result cannot be written as JSON.
      this.refuse(id, cause, call);
    }
    this.#answered();
  }
}

/** Whether a request ends when its caller leaves: a method call, or an export, which only serves its reader. */
function isCall(method: string): boolean {
  return isStreamed(method) || !isOperation(method);
}

/** Fills in the id of the socket's own connection: a client cannot name another one. */
function onOwnConnection(params: unknown, { connectionId }: FrameCall): unknown {
  return typeof params === 'object' && !Array.isArray(params) ? { ...params, connectionId } : params;
}

/** The caller of one request over a socket. Fields that few operations need are made on first use. */
export class FrameCall implements Caller {
  readonly person: Person;
  readonly transport: string;
  readonly clientId: string;
  readonly connectionId: string;
  /** Whether a `cancel` or the caller's departure ends the request. Only methods and exports end; everything else takes effect. */
  readonly cancellable: boolean;
  /** The chunks that a streaming method may still send. */
  window: ChunkWindow | undefined;
  readonly #method: string;
  readonly #params: unknown;
  readonly #traceparent: string | undefined;
  #traceId: string | undefined;
  #parentSpan: ParentSpan | null | undefined;
  #requestId: string | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(
    connection: {
      readonly id: string;
      readonly person: Person;
      readonly options: { readonly transport: string };
    },
    { method, params, traceparent }: Pick<RequestFrame, 'method' | 'params' | 'traceparent'>,
    cancellable: boolean,
  ) {
    this.person = connection.person;
    this.transport = connection.options.transport;
    this.clientId = connection.id;
    this.connectionId = connection.id;
    this.cancellable = cancellable;
    this.#traceparent = traceparent;
    this.#method = method;
    this.#params = params;
  }

  get traceId(): string {
    this.#traceId ??= this.parentSpan?.traceId ?? newTraceId();
    return this.#traceId;
  }

  get parentSpan(): ParentSpan | undefined {
    if (this.#traceparent === undefined) return undefined;
    this.#parentSpan ??= parseTraceparent(this.#traceparent);
    return this.#parentSpan ?? undefined;
  }

  /** Facts about the request, for the operator's log. */
  facts(): LogFacts {
    if (!isOperation(this.#method)) return callFacts(this, { operation: 'invoke', method: this.#method });
    const { sessionId, method } = (this.#params ?? {}) as CallTarget;
    return callFacts(this, { operation: this.#method, sessionId, method });
  }

  get requestId(): string {
    this.#requestId ??= newRequestId();
    return this.#requestId;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
