import type { StandardSchemaV1 } from '@standard-schema/spec';
import { GatewayError, GuardError } from '../../shared/errors.js';
import type { ContextChannels, MethodContext, ParentSpan } from '../../shared/method.js';
import { type Context, presentContext } from '../async/async-context.js';
import { settleWithin } from '../async/deadline.js';
import { Eventual, type MaybeLater } from '../async/eventual.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { SharedTimer, TimedWork } from '../async/shared-timer.js';
import { accept, check, type Validation } from '../schema/validate.js';
import { runInContext } from './context.js';
import type { MethodEntry } from './flatten.js';

/** Facts about the caller, from the door. Each field is read once, the signal only if the handler reads it. */
export interface CallerContext
  extends Pick<MethodContext, 'user' | 'metadata' | 'traceId' | 'requestId' | 'emit' | 'signal'> {
  readonly parentSpan?: ParentSpan | undefined;
  readonly channels?: ContextChannels | undefined;
  readonly lastEventId?: string | undefined;
}

/** Bounds of one call, and the listener of its end. */
export interface MethodCallBounds {
  /** Milliseconds a handler may take; the method's own `timeoutMs` wins. For streams only the method's own counts. */
  readonly timeoutMs?: number;
  /** The timer for the time limits of asynchronous handlers. */
  readonly timer: SharedTimer;
  /** Milliseconds that a guard may take. After that the call is denied. @default Infinity */
  readonly guardMs?: number;
  /** Called once when the call ends in any way, before its result can be seen. */
  readonly ended?: () => void;
}

/**
 * Calls a method: roles, schema, guard, handler, in this order and within the call's context. If no step is asynchronous, it returns the
 * result or throws; otherwise it returns a promise-like value.
 *
 * The context's signal is aborted when the caller's is or the time is up. Errors of the handler pass through unchanged.
 *
 * @throws GatewayError `GUARD_DENIED`, `INVALID_PARAMS`, `TIMEOUT`; `INTERNAL` for a result that does not match the method's
 *   result schema (the faults are its `cause`) or is an async iterable; `INVALID_REQUEST` for a streaming method.
 */
export function callMethod(
  entry: MethodEntry,
  params: unknown,
  context: CallerContext,
  options: MethodCallBounds,
): MaybeLater<unknown> {
  if (entry.stream) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `${entry.path} is a streaming method` });
  }
  return new MethodCall(entry, context, options).begin(params);
}

/** One call, and its outcome if a step is asynchronous. */
class MethodCall extends Eventual<unknown> implements TimedWork {
  readonly #entry: MethodEntry;
  readonly #context: CallContext;
  readonly #options: MethodCallBounds;
  dueAt = Number.POSITIVE_INFINITY;

  constructor(entry: MethodEntry, caller: CallerContext, options: MethodCallBounds) {
    super();
    this.#entry = entry;
    this.#context = new CallContext(caller, options.ended);
    this.#options = options;
  }

  /** Runs the checks and the handler. */
  begin(params: unknown): MaybeLater<unknown> {
    try {
      const returned = runInContext(this.#context, () => this.#perform(params));
      // Outside the context, because the use of the result does not belong to the call.
      if (isPromise(returned)) return this.#await(returned, (value) => this.#returned(value));
      const result = this.#finish(returned);
      if (isPromise(result)) return this.#await(result, (value) => this.#succeed(value));
      this.#context.release();
      return result;
    } catch (error) {
      this.#stopTime();
      this.#context.release();
      throw error;
    }
  }

  #perform(params: unknown): unknown {
    const input = admit(this.#entry, params, this.#context, this.#options.guardMs);
    return isPromise(input) ? input.then((valid) => this.#handle(valid)) : this.#handle(input);
  }

  #handle(input: unknown): unknown {
    const returned = this.#entry.definition.handler(input, this.#context);
    if (isPromise(returned)) this.#startTime();
    return returned;
  }

  get #timeoutMs(): number {
    return this.#entry.definition.timeoutMs ?? this.#options.timeoutMs ?? Number.POSITIVE_INFINITY;
  }

  #startTime(): void {
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    this.dueAt = performance.now() + timeoutMs;
    this.#options.timer.add(this);
  }

  #stopTime(): void {
    this.#options.timer.delete(this);
  }

  #await(work: Promise<unknown>, next: (value: unknown) => void): this {
    work.then(next, (error: unknown) => this.#fail(error));
    return this;
  }

  #returned(value: unknown): void {
    this.#stopTime();
    if (this.isSettled) return;
    try {
      const result = this.#finish(value);
      if (isPromise(result)) this.#await(result, (valid) => this.#succeed(valid));
      else this.#succeed(result);
    } catch (error) {
      this.#fail(error);
    }
  }

  #finish(value: unknown): MaybePromise<unknown> {
    const { path, definition } = this.#entry;
    if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
      throw new GatewayError({
        code: 'INTERNAL',
        message: `${path} returned an async iterable; write it as an async generator or declare method({ stream: true })`,
      });
    }
    return definition.result ? runInContext(this.#context, () => validResult(this.#entry, value)) : value;
  }

  #succeed(result: unknown): void {
    this.#context.release();
    this.resolve(result);
  }

  #fail(error: unknown): void {
    this.#stopTime();
    this.#context.release();
    this.reject(error);
  }

  timeUp(): void {
    const message = `${this.#entry.path} took longer than ${this.#timeoutMs} ms`;
    const error = new GatewayError({ code: 'TIMEOUT', message });
    this.#context.abort(error);
    this.#fail(error);
  }
}

/**
 * Decides on a call, in the order roles, schema, guard, and returns the parameters for the handler.
 *
 * @param guardMs Milliseconds that a guard may take. After that the call is denied.
 * @throws GuardError with `guardType` `role` or `custom`. An error of the guard is its `cause` and never in its text.
 * @throws GatewayError `INVALID_PARAMS`.
 */
export function admit(
  entry: MethodEntry,
  params: unknown,
  context: MethodContext,
  guardMs?: number,
): MaybePromise<unknown> {
  const { roles, schema, guard } = entry.definition;
  if (roles && !holdsAnyRole(context.user, roles)) {
    throw new GuardError({
      guardType: 'role',
      message: `You need another role to call ${entry.path}`,
    });
  }
  const input = schema ? validParams(schema, params, `params of ${entry.path}`) : params;
  if (!guard) return input;
  return andThen(input, (valid) =>
    andThen(
      guardAnswer(entry.path, () => guard(context, valid), guardMs),
      () => valid,
    ),
  );
}

/** Whether a user holds one of the roles. Names are compared exactly; a `roles` that is no list counts as empty. */
export function holdsAnyRole(user: { readonly roles?: unknown } | null, roles: readonly string[]): boolean {
  const held: unknown = user?.roles;
  return Array.isArray(held) && roles.some((role) => held.includes(role));
}

function validParams(schema: StandardSchemaV1, params: unknown, what: string): MaybePromise<unknown> {
  const outcome = check(schema, params);
  if (params !== undefined) return andThen(outcome, (known) => accept(known, what));
  // Callers may leave out params whose fields are all optional, so absent params are also tried as an empty object.
  return andThen(outcome, (absent) =>
    absent.issues
      ? andThen(check(schema, {}), (empty) => accept(namesFields(empty) ? empty : absent, what))
      : absent.value,
  );
}

function namesFields(outcome: Validation): boolean {
  return !outcome.issues || outcome.issues.some((issue) => issue.path !== '');
}

function guardAnswer(path: string, ask: () => unknown, guardMs: number | undefined): MaybePromise<void> {
  let answer: unknown;
  try {
    answer = ask();
  } catch (cause) {
    throw denial(path, cause);
  }
  if (!isPromise(answer)) return requireTrue(path, answer);
  const timely = settleWithin(answer, guardMs, () => ({
    error: new GatewayError({ code: 'TIMEOUT' }),
  }));
  return timely.then(
    (value) => requireTrue(path, value),
    (cause: unknown) => {
      throw denial(path, cause);
    },
  );
}

function requireTrue(path: string, answer: unknown): void {
  if (answer !== true) throw denial(path);
}

function denial(path: string, cause?: unknown): GuardError {
  return new GuardError({ guardType: 'custom', message: `The guard of ${path} denied the call`, cause });
}

/**
 * The context of one call: the caller's, with a signal of its own that is also aborted when the call's time is up. Most handlers never use
 * the signal, so it is made when it is first read.
 */
export class CallContext implements MethodContext {
  readonly user: MethodContext['user'];
  readonly metadata: MethodContext['metadata'];
  readonly traceId: string;
  declare readonly parentSpan?: ParentSpan;
  declare readonly lastEventId?: string;
  declare readonly channels?: ContextChannels;
  readonly emit: MethodContext['emit'];
  readonly #caller: CallerContext;
  #controller: AbortController | undefined;
  /** The async context in which the signal was first read. Its listeners are called in it. */
  #within: Context | undefined;
  #abortion: { readonly reason: unknown } | undefined;
  #unlink: (() => void) | undefined;
  #released = false;
  readonly #ended: (() => void) | undefined;

  /** @param ended Called once, when the call is over. */
  constructor(caller: CallerContext, ended?: () => void) {
    this.#caller = caller;
    this.#ended = ended;
    this.user = caller.user;
    this.metadata = caller.metadata;
    this.traceId = caller.traceId;
    this.emit = (name, payload) => caller.emit(name, payload);
    const { parentSpan, lastEventId, channels } = caller;
    if (parentSpan) this.parentSpan = parentSpan;
    if (lastEventId !== undefined) this.lastEventId = lastEventId;
    if (channels) this.channels = channels;
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    this.#within = presentContext();
    if (this.#abortion) this.#controller.abort(this.#abortion.reason);
    else if (!this.#released) this.#link(this.#caller.signal);
    return this.#controller.signal;
  }

  /** Aborts the call's signal, not the caller's. */
  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#within?.(() => this.#controller?.abort(reason));
  }

  /** Ends the call, and detaches it from the caller's signal, which may outlive many calls. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#unlink?.();
    this.#unlink = undefined;
    this.#ended?.();
  }

  #link(outer: AbortSignal): void {
    if (outer.aborted) {
      this.abort(outer.reason);
      return;
    }
    const forward = () => this.abort(outer.reason);
    outer.addEventListener('abort', forward, { once: true });
    this.#unlink = () => outer.removeEventListener('abort', forward);
  }
}

/**
 * Validates a result, or one item of a stream, with the method's result schema, if it has one.
 *
 * @throws GatewayError `INTERNAL`, because the fault is the method's. Only its `cause` names the wrong fields, for the operator's log.
 */
export function validResult(entry: MethodEntry, value: unknown): MaybePromise<unknown> {
  const { result } = entry.definition;
  return result ? andThen(check(result, value), (outcome) => acceptResult(entry.path, outcome)) : value;
}

function acceptResult(path: string, outcome: Validation): unknown {
  try {
    return accept(outcome, `result of ${path}`);
  } catch (cause) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `The result of ${path} does not match its result schema`,
      cause,
    });
  }
}
