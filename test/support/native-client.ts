import { EventSource } from 'eventsource';
import { EventReader } from '../../shared/event-reader.js';
import { fetchUntilServed } from './insist.js';
import { closeLater } from './resources.js';
import { type RawEvent, wholeEvent } from './sse-client.js';

const TYPES = [
  'connected',
  'heartbeat',
  'gap',
  'snapshot',
  'message_accepted',
  'message_start',
  'content_delta',
  'message_end',
  'channel',
  'custom',
  'session_closed',
];

/** A native-style EventSource that reports what it receives. It comes back at once instead of after three seconds. */
export function openEventSource(url: string, take: (event: RawEvent) => void): EventSource {
  const source = new EventSource(url, {
    fetch: async (input, init) => {
      const response = await fetchAgain(String(input), init as RequestInit);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('retry: 1\n\n')),
      });
      // A cut connection is the transport's end, not a failure of the pipe.
      response.body?.pipeTo(writable).catch(() => {});
      const { status, redirected, headers } = response;
      return { body: readable as never, url: response.url, status, redirected, headers };
    },
  });
  const reader = new EventReader();
  for (const type of TYPES) {
    source.addEventListener(type, (event: MessageEvent) => {
      const { lastEventId, data } = event;
      take(wholeEvent(reader, { event: type, data, ...(lastEventId !== '' && { id: lastEventId }) }));
    });
  }
  return closeLater(source, (it) => it.close());
}

/** Before it has read `retry:`, an EventSource would wait for three seconds; for 503 its page has to make a new one. */
async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    try {
      return await fetchUntilServed(url, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
    }
  }
}
