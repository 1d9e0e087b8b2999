import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Turn } from '../apps/application.js';
import { traceHeaders } from './trace-headers.js';

/** A request as `fetch` reports it before it is sent. */
interface TracedRequest {
  /** A single text in older versions of Node. */
  readonly headers: string | readonly unknown[];
  addHeader(name: string, value: string): void;
}

const carried = new AsyncLocalStorage<string>();
let isListening = false;

/**
 * Yields the items of a framework that makes its own requests. Its `fetch` requests carry the sender's trace, unless they have one already,
 * or OpenTelemetry propagates.
 */
export async function* carryingTrace<T>(
  turn: Pick<Turn, 'traceparent'>,
  start: () => Promise<AsyncIterable<T>>,
): AsyncGenerator<T, void> {
  const { traceparent } = traceHeaders(turn);
  if (traceparent === undefined) return yield* await start();
  listen();
  const within = <R>(work: () => R): R => carried.run(traceparent, work);
  const iterator = (await within(start))[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await within(() => iterator.next());
      isOver = done === true;
      if (done) return;
      yield value;
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    if (!isOver) await within(() => iterator.return?.());
  }
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('undici:request:create', (message) => {
    const traceparent = carried.getStore();
    if (traceparent === undefined) return;
    const { request } = message as { readonly request: TracedRequest };
    if (!hasTrace(request)) request.addHeader('traceparent', traceparent);
  });
}

function hasTrace({ headers }: TracedRequest): boolean {
  return typeof headers === 'string'
    ? /^traceparent:/im.test(headers)
    : headers.some((name, at) => at % 2 === 0 && String(name).toLowerCase() === 'traceparent');
}
