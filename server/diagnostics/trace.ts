import type { Channel, TracingChannel } from 'node:diagnostics_channel';
import { isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { StoreError } from '../stores/append.js';
import type { TraceChannel } from './channels.js';
import type { TraceOutcome } from './messages.js';

/** The code of an error. Unknown errors may carry any code, which is not used. */
export const codeOf = (error: unknown): string =>
  isGatewayError(error) || error instanceof StoreError ? error.code : 'INTERNAL';

/** One observed piece of work. Ends at most once. */
export class Trace<Message extends TraceOutcome> {
  readonly message: Message;
  readonly #channel: TracingChannel<unknown, Message>;
  #began = 0;
  #beginning = true;
  #over = false;

  constructor(channel: TraceChannel<Message>, message: Message) {
    this.#channel = channel as unknown as TracingChannel<unknown, Message>;
    this.message = message;
  }

  /** Begins the work: `work` runs with the async stores that subscribers have bound. The duration counts from `beganAt`. */
  during<T>(work: () => T, beganAt: number = performance.now()): T {
    this.#began = beganAt;
    const begin = (): T => {
      try {
        return work();
      } finally {
        this.#beginning = false;
        this.#publish('end');
      }
    };
    return (this.#channel.start as Channel<unknown, Message>).runStores(this.message, begin) as T;
  }

  /** Ends the work with a result. */
  done(result: Message['result']): void {
    if (this.#over) return;
    this.message.result = result;
    this.message.ms = performance.now() - this.#began;
    this.#finish();
  }

  /** Ends the work with an error. */
  fail(error: unknown, code: string = codeOf(error)): void {
    if (this.#over) return;
    this.message.error = error;
    this.message.code = code;
    this.message.ms = performance.now() - this.#began;
    this.#publish('error');
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    if (this.#beginning) return;
    this.#publish('asyncStart');
    this.#publish('asyncEnd');
  }

  #publish(event: 'end' | 'asyncStart' | 'asyncEnd' | 'error'): void {
    this.#channel[event].publish(this.message);
  }
}

/** Ends a trace with the failure of a value. If the value succeeds, `succeeded` continues. */
export function settle<T, R>(
  trace: Trace<any>,
  produce: () => MaybePromise<T>,
  succeeded: (value: T) => R,
): MaybePromise<R> {
  const failed = (error: unknown): never => {
    trace.fail(error);
    throw error;
  };
  let value: MaybePromise<T>;
  try {
    value = produce();
  } catch (error) {
    return failed(error);
  }
  return isPromise(value) ? value.then(succeeded, failed) : succeeded(value);
}

/** Does a traced piece of work, synchronously if it is synchronous. */
export function traced<T>(
  trace: Trace<any>,
  work: () => MaybePromise<T>,
  describe: (value: T) => unknown = (value) => value,
): MaybePromise<T> {
  return trace.during(() =>
    settle(trace, work, (value) => {
      trace.done(describe(value));
      return value;
    }),
  );
}
