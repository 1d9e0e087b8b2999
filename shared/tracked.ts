import { GatewayError } from './gateway-error.js';

const TRACKED: unique symbol = Symbol.for('agent-session-gateway.tracked') as never;
/** An id must fit in a header and in a field of an event stream. */
const EVENT_ID = /^[\x21-\x7e]{1,1024}$/;

/** An item of a streaming method with an id. A caller that was cut off continues after it. */
export interface Tracked<Value> {
  readonly [TRACKED]: true;
  readonly id: string;
  /** Absent if the item tells only its place. */
  readonly value?: Value;
}

/**
 * Gives an item of a streaming method an id, so that the client can resume the stream after a cut: the method is called again, with the last id in
 * `context.lastEventId`. Without a value the item tells only its place. Yield one first, so that a stream can be resumed before its first value.
 *
 * @param id 1 to 1,024 printable ASCII characters without spaces. The method gives it a meaning.
 * @throws GatewayError `INTERNAL` for another id
 *
 * @example
 * ```ts
 * const watch = method({
 *   handler: async function* (_params: void, { lastEventId }) {
 *     for await (const change of db.changes({ after: lastEventId })) yield tracked(change.id, { title: change.title });
 *   },
 * });
 * ```
 */
export function tracked(id: string): Tracked<never>;
export function tracked<Value>(id: string, value: Value): Tracked<Value>;
export function tracked(id: string, value?: unknown): Tracked<unknown> {
  if (!isEventId(id)) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: 'tracked(id): an id is 1 to 1,024 printable ASCII characters without spaces',
    });
  }
  return { [TRACKED]: true, id, ...(value !== undefined && { value }) };
}

/** Whether a value was made by `tracked`, also by another copy of this package. */
export function isTracked(item: unknown): item is Tracked<unknown> {
  return typeof item === 'object' && item !== null && TRACKED in item;
}

/** Whether a value can be the id of an item. */
export function isEventId(id: unknown): id is string {
  return typeof id === 'string' && EVENT_ID.test(id);
}
