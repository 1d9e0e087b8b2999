import type { Checkpoint, StoredEvent } from './stored.js';

/** Another body of a stored event. Its place, type, run and time stay. */
export interface RewrittenEvent {
  readonly seq: number;
  readonly body: string;
}

/** Stored data that says something else from a batch on, because a message was taken back. */
export interface Rewrites {
  /** Each place at most once. Events that the log does not have, or has no more, are left out. */
  readonly events: readonly RewrittenEvent[];
  /** Takes the place of the log's checkpoint, if it has one at this place. */
  readonly checkpoint?: Checkpoint;
}

/** A batch of events, some of them rewritten; null if none of them is. */
export function rewritten<Event extends StoredEvent>(
  batch: readonly Event[],
  bodies: ReadonlyMap<number, string>,
): readonly Event[] | null {
  if (!batch.some(({ seq }) => bodies.has(seq))) return null;
  return batch.map((event) => ({ ...event, body: bodies.get(event.seq) ?? event.body }));
}

/** The bodies of rewritten events by their places, and the first and the last place. */
export function bodiesOf({ events }: Rewrites): {
  readonly bodies: ReadonlyMap<number, string>;
  readonly first: number;
  readonly last: number;
} {
  const bodies = new Map(events.map(({ seq, body }) => [seq, body]));
  const places = [...bodies.keys()].sort((a, b) => a - b);
  return { bodies, first: places[0] ?? 0, last: places.at(-1) ?? -1 };
}
