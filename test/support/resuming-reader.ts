import { TOKEN } from './gateway.js';
import { type RawEvent, RawReader } from './sse-client.js';

/** A raw SSE reader that comes back with the last id it saw, as a browser does, until it is told that it has everything. */
export class ResumingReader {
  readonly events: RawEvent[] = [];
  connections = 0;
  lastEventId = '';
  readonly #url: string;
  readonly #handlers: { connected?(): void; event?(event: RawEvent): void; done(event: RawEvent): boolean };

  constructor(
    url: string,
    handlers: { connected?(): void; event?(event: RawEvent): void; done(event: RawEvent): boolean },
    lastEventId = '',
  ) {
    this.#url = url;
    this.#handlers = handlers;
    this.lastEventId = lastEventId;
  }

  async run(): Promise<void> {
    while (!(await this.#connection()));
  }

  async #connection(): Promise<boolean> {
    const abort = new AbortController();
    const reader = new RawReader();
    this.connections += 1;
    if (this.connections > 500) throw new Error('the reader makes no progress');
    this.#handlers.connected?.();
    try {
      const headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` };
      if (this.lastEventId !== '') headers['last-event-id'] = this.lastEventId;
      const response = await fetch(this.#url, { headers, signal: abort.signal });
      // The store can't be read now: nothing to tell from a cut.
      if (response.status === 503) return false;
      if (!response.ok) throw new Refused(`status ${response.status}: ${await response.text()}`);
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const raw of reader.feed(chunk)) {
          if (raw.id !== undefined) this.lastEventId = raw.id;
          this.events.push(raw);
          this.#check(raw);
          if (this.#handlers.done(raw)) return true;
        }
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    } finally {
      abort.abort();
    }
    return false;
  }

  #check(raw: RawEvent): void {
    try {
      this.#handlers.event?.(raw);
    } catch (error) {
      throw new Refused((error as Error).message);
    }
  }
}

/** A failure that is the test's, not the network's. */
class Refused extends Error {}
