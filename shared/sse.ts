import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { GatewayError } from './gateway-error.js';

/** Names that may stand in an SSE `event:` field, so that no value can forge a second event. */
const EVENT_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * Writes one event (WHATWG HTML, section 9.2.6). `data` must be one line of JSON; `id` a cursor or vector.
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
    : `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;
}

/** Reads a byte stream of events. Characters and lines may be cut anywhere; what is not yet complete is bounded. */
export class SseDecoder {
  readonly #text = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: EventSourceMessage[] = [];
  #failure: GatewayError | null = null;
  /** Milliseconds of the last `retry:` field, as the server asks clients to wait before they reconnect. */
  retryMs: number | undefined;

  /** @param maxBufferSize Longest incomplete event, in characters. @default 16 Mi */
  constructor(maxBufferSize = 16 * 1024 * 1024) {
    this.#parser = createParser({
      maxBufferSize,
      onEvent: (event) => this.#events.push(event),
      onRetry: (ms) => {
        this.retryMs = ms;
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') {
          this.#failure = new GatewayError({ code: 'PAYLOAD_TOO_LARGE', message: error.message });
        }
      },
    });
  }

  /**
   * Takes the next bytes and returns the events they complete.
   *
   * @throws GatewayError `PAYLOAD_TOO_LARGE` when an incomplete event exceeds the bound.
   */
  feed(chunk: Uint8Array): EventSourceMessage[] {
    this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    if (this.#failure) throw this.#failure;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
