import type { GatewayError } from '../shared/gateway-error.js';
import { onAbort } from './timing.js';

/** Items an iterator holds before it asks its source to stop. */
const CAPACITY = 4096;

/** Callbacks to the source of an iterator's items. */
export interface IteratorSource {
  /** The consumer left before the end. */
  left?(): void;
  /** Everything pushed so far was consumed. */
  drained?(): void;
}

/** An async iterator fed by `push`. Leaving it, by `break` or a signal, drops its buffered items and ends nothing else. */
export interface EventIterator<T> extends AsyncIterableIterator<T> {
  isOver(): boolean;
  isFull(): boolean;
  push(item: T): void;
  /** Ends the iteration after the buffered items. An error is thrown once. */
  end(error?: GatewayError): void;
  return(): Promise<IteratorResult<T>>;
}

/** Makes an event iterator. */
export function createIterator<T>(source: IteratorSource, signal?: AbortSignal): EventIterator<T> {
  const waiters: ((result: IteratorResult<T> | Promise<IteratorResult<T>>) => void)[] = [];
  let items: T[] = [];
  let error: GatewayError | undefined;
  let isOver = false;
  let release = () => {};

  const finish = async (): Promise<IteratorResult<T>> => {
    const thrown = error;
    error = undefined;
    if (thrown) throw thrown;
    return { done: true, value: undefined };
  };
  const end = (cause?: GatewayError) => {
    if (isOver) return;
    isOver = true;
    error = cause;
    release();
    for (const waiter of waiters.splice(0)) waiter(finish());
  };
  const iterator: EventIterator<T> = {
    isOver: () => isOver,
    isFull: () => items.length >= CAPACITY,
    push: (value) => {
      const waiter = waiters.shift();
      if (waiter) waiter({ done: false, value });
      else if (!isOver) items.push(value);
    },
    end,
    next: async () => {
      if (items.length === 0) return isOver ? finish() : new Promise((resolve) => waiters.push(resolve));
      const value = items.shift()!;
      if (items.length === 0) source.drained?.();
      return { done: false, value };
    },
    return: async () => {
      const wasOver = isOver;
      end();
      items = [];
      error = undefined;
      if (!wasOver) source.left?.();
      return finish();
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  if (signal?.aborted) isOver = true;
  else release = onAbort(signal, () => void iterator.return());
  return iterator;
}
