import type { EventType } from '../../shared/events.js';
import type { GatewayError } from '../../shared/gateway-error.js';
import { attempt } from '../listeners.js';
import type { EventsOptions } from '../session.js';

/** Where to listen from, and to what. */
export interface EventHookOptions<Type extends EventType = EventType>
  extends Pick<EventsOptions<Type>, 'from' | 'types'> {
  /** Gets why no more events come, where the gateway refuses. @default an uncaught error of the page */
  readonly onError?: ((error: GatewayError) => void) | undefined;
}

/** Calls a function for each item until the returned function is called. What it throws is reported and harms nobody. */
export function forEach<T>(
  items: AsyncIterable<T>,
  handle: (item: T) => void,
  onError: (error: GatewayError) => void,
): () => void {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  const next = (): void =>
    void iterator.next().then(
      ({ done, value }) => {
        if (isOver || done) return;
        attempt(() => handle(value));
        next();
      },
      (error) => isOver || attempt(() => onError(error)),
    );
  next();
  return () => {
    isOver = true;
    void iterator.return?.();
  };
}

/** Makes an error of nobody's uncaught. */
export function uncaught(error: unknown): never {
  throw error;
}
