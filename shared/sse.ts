import { createParser, type EventSourceParser } from 'eventsource-parser';
import { GatewayError } from './gateway-error.js';

/** Names that may stand in an SSE `event:` field, so that no value can forge a second event. */
const EVENT_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;
// The end of a run carries its whole answer, which the gateway bounds at half of this by default.
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/**
 * Writes one event (WHATWG HTML, section 9.2.6). `data` must be one line of JSON; `id` a cursor or vector. It comes last: there are clients that take
 * an id at once, and would lose the event if their line was cut between the two.
 *
 * @throws GatewayError `INVALID_REQUEST` for an event name outside the allowed characters.
 */
export function encodeSse(event: string, data: string, id?: string): string {
  if (!EVENT_NAME.test(event)) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: 'Event names are 1 to 128 of A-Z a-z 0-9 _ . : -',
    });
  }
  return id === undefined
    ? `event: ${event}\ndata: ${data}\n\n`
    : `event: ${event}\ndata: ${data}\nid: ${id}\n\n`;
}

/** One event of a stream, as text. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/** Reads a byte stream of events. Characters and lines may be cut anywhere; an incomplete event is bounded. */
export class SseDecoder {
  readonly #text = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: SseEvent[] = [];
  /** Milliseconds of the last `retry:` field, as the server asks clients to wait before they reconnect. */
  retryMs: number | undefined;

  /** @param maxChars Longest incomplete event. @default 64 Mi */
  constructor(maxChars = MAX_EVENT_CHARS) {
    this.#parser = createParser({
      maxBufferSize: maxChars,
      onEvent: ({ event = 'message', data, id }) =>
        this.#events.push({ event, data, ...(id !== undefined && { id }) }),
      onRetry: (ms) => {
        this.retryMs = ms;
      },
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return;
        throw new GatewayError({ code: 'PAYLOAD_TOO_LARGE', message: 'An event is too long' });
      },
    });
  }

  /**
   * Takes the next bytes and returns the events they complete.
   *
   * @throws GatewayError `PAYLOAD_TOO_LARGE` when an incomplete event exceeds the bound.
   */
  feed(chunk: Uint8Array): SseEvent[] {
    this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
