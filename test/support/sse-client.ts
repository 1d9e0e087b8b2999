import { EventReader } from '../../shared/event-reader.js';
import { eventDataSchemas } from '../../shared/schemas/events.js';
import { SseDecoder, type SseEvent } from '../../shared/sse.js';
import { jsonHeaders } from './gateway.js';
import { closeLater } from './resources.js';

export interface RawEvent {
  readonly event: string;
  readonly id?: string;
  /** With what the wire leaves out. */
  readonly data: any;
  /** As it was on the wire. */
  readonly wire?: any;
}

/** Reads the events of one stream, whole. */
export class RawReader {
  readonly #decoder = new SseDecoder();
  readonly #reader = new EventReader();

  get retryMs(): number | undefined {
    return this.#decoder.retryMs;
  }

  feed(chunk: Uint8Array): RawEvent[] {
    return this.#decoder.feed(chunk).map((event) => wholeEvent(this.#reader, event));
  }
}

/** An event with what the wire leaves out of it. */
export function wholeEvent(reader: EventReader, { event = 'message', id, data }: SseEvent): RawEvent {
  const wire = JSON.parse(data);
  const whole = { event, ...(id !== undefined && { id }), data: wholeData(reader, event, wire, id) };
  // Two readers may have been sent the same in different words.
  return Object.defineProperty(whole, 'wire', { value: wire });
}

/** The data of an event with what the wire leaves out of it. */
export function wholeData(reader: EventReader, event: string, wire: unknown, id?: string): any {
  if (!Object.hasOwn(eventDataSchemas, event)) return wire;
  const { type, ...data } = reader.read(event, { ...(wire as object) }, id);
  return data;
}

/** A raw reader of an SSE response, for tests that look at the wire. */
export class RawStream {
  readonly response: Response;
  readonly events: RawEvent[] = [];
  /** Resolves when the server ends or cuts the stream. */
  readonly ended: Promise<void>;
  retryMs: number | undefined;
  #waiters: (() => void)[] = [];
  #done = false;
  readonly #abort: AbortController;

  constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.ended = this.#read();
  }

  async #read(): Promise<void> {
    const reader = new RawReader();
    try {
      for await (const chunk of this.response.body as unknown as AsyncIterable<Uint8Array>) {
        this.events.push(...reader.feed(chunk));
        this.retryMs = reader.retryMs;
        this.#wake();
      }
    } catch {
      // A cut stream ends like any other here; tests look at what arrived.
    }
    this.#done = true;
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  /** Waits until an event matches, each of which is asked once; rejects when the stream ends first. */
  async until(matches: (event: RawEvent) => boolean): Promise<RawEvent> {
    for (let asked = 0; ; ) {
      while (asked < this.events.length) {
        const event = this.events[asked++]!;
        if (matches(event)) return event;
      }
      if (this.#done)
        throw new Error(`stream ended with ${this.events.map((event) => event.event).join(', ')}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Events of the log, without those of the connection. */
  get logged(): RawEvent[] {
    return this.events.filter(
      ({ event }) =>
        !['connected', 'heartbeat', 'gap', 'snapshot', 'subscribed', 'auth_expired'].includes(event),
    );
  }

  close(): void {
    this.#abort.abort();
  }
}

/** Opens an SSE response; it is closed after the test. `request` makes the request. */
export async function openStream(
  url: string,
  init: RequestInit = {},
  request: typeof fetch = fetch,
): Promise<RawStream> {
  const abort = new AbortController();
  const response = await request(url, { ...init, signal: abort.signal });
  return closeLater(new RawStream(response, abort), (stream) => stream.close());
}

/** POSTs JSON, and reads the events of the answer. */
export const postStream = (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = jsonHeaders(),
): Promise<RawStream> => openStream(url, { method: 'POST', headers, body: JSON.stringify(body) });
