import { isDelta } from '../../shared/events.js';
import type { StoredEvent } from '../stores/store.js';

/**
 * The answer that the last delta of a log was a piece of: what the next delta need not say again to whoever has read that one.
 */
export class Answering {
  // As the bodies of deltas begin and end (entry.ts). One that was written otherwise is sent as it is.
  readonly #head: string;
  readonly #tail: string;

  constructor(runId: string, index: number) {
    this.#head = `{"runId":${JSON.stringify(runId)},`;
    this.#tail = `,"index":${index}}`;
  }

  /** Whether an event is one more delta of the same block of the same answer. */
  has(event: Pick<StoredEvent, 'type' | 'body'>): boolean {
    const { body } = event;
    return body.startsWith(this.#head) && body.endsWith(this.#tail) && isDelta(event);
  }

  /** The body of an event that it has, without what both share. */
  rest({ body }: StoredEvent): string {
    return `{${body.slice(this.#head.length, -this.#tail.length)}}`;
  }
}

/** Whether an event says which answer is being written. */
export function namesAnswer(event: StoredEvent): boolean {
  return event.runId !== undefined && (event.type === 'message_start' || isDelta(event));
}

/** What whoever knew `before` knows once they have read an event. */
export function answeringAfter(event: StoredEvent, before: Answering | null): Answering | null {
  if (!namesAnswer(event) || before?.has(event)) return before;
  if (event.type === 'message_start') return new Answering(event.runId!, 0);
  const index = /,"index":(\d+)\}$/.exec(event.body)?.[1];
  return index === undefined ? null : new Answering(event.runId!, Number(index));
}
