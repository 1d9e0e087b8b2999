import { isDelta } from '../../shared/events.js';
import type { StoredEvent } from '../stores/stored.js';

/** The run and block of a log's last delta. A reader that has read that delta need not be sent both again with the next one. */
export class OpenAnswer {
  // The common beginning and end of such deltas' bodies, as entry.ts writes them. A body of another form is sent unchanged.
  readonly #head: string;
  readonly #tail: string;

  constructor(runId: string, index: number) {
    this.#head = `{"runId":${JSON.stringify(runId)},`;
    this.#tail = `,"index":${index}}`;
  }

  /** Whether an event is a delta of the same block of the same answer. */
  has(event: Pick<StoredEvent, 'type' | 'body'>): boolean {
    const { body } = event;
    return body.startsWith(this.#head) && body.endsWith(this.#tail) && isDelta(event);
  }

  /** The body of such an event without the common parts. */
  rest({ body }: StoredEvent): string {
    return `{${body.slice(this.#head.length, -this.#tail.length)}}`;
  }
}

/** Whether an event tells which answer is being written. */
export function namesAnswer(event: StoredEvent): boolean {
  return event.runId !== undefined && (event.type === 'message_start' || isDelta(event));
}

/** The answer that a reader knows of after it has read an event. */
export function answeringAfter(event: StoredEvent, before: OpenAnswer | null): OpenAnswer | null {
  if (!namesAnswer(event) || before?.has(event)) return before;
  if (event.type === 'message_start') return new OpenAnswer(event.runId!, 0);
  const index = /,"index":(\d+)\}$/.exec(event.body)?.[1];
  return index === undefined ? null : new OpenAnswer(event.runId!, Number(index));
}
