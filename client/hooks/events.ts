import type { EventType } from '../../shared/events.js';
import type { GatewayError } from '../../shared/gateway-error.js';
import { attempt } from '../listeners.js';
import type { EventsOptions } from '../session.js';

/** The start and the types of events to listen to. */
export interface EventHookOptions<Type extends EventType = EventType>
  extends Pick<EventsOptions<Type>, 'from' | 'types'> {
  /** Receives the error after which no more events come, if the gateway refuses. @default an uncaught error of the page */
  readonly onError?: ((error: GatewayError) => void) | undefined;
}

/** Calls a function for each item until the returned function is called. An error that it throws is reported and stops nothing. */
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

/** Throws an error that nobody handles as an uncaught one. */
export function uncaught(error: unknown): never {
  throw error;
}
