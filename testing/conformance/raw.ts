import type { GatewayEvent } from '../../client/index.js';
import { EventReader } from '../../shared/event-reader.js';
import { SseDecoder } from '../../shared/sse.js';

/** A gateway under examination, and the caller's token. */
export interface Examined {
  readonly url: string;
  readonly token?: string | undefined;
}

/** Makes a request as any client could. */
export function ask({ url, token }: Examined, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return fetch(url.replace(/\/+$/, '') + path, { ...init, headers });
}

/** Options of `readEvents`. `until` matches the last event that is read. */
export interface ReadOptions {
  readonly sessionId: string;
  readonly from?: string | undefined;
  readonly lastEventId?: string | undefined;
  readonly until: (event: GatewayEvent) => boolean;
  /** Called with each event as it arrives. */
  readonly heard?: ((event: GatewayEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads `/events` as a browser's `EventSource` does, up to an event. */
export async function readEvents(of: Examined, options: ReadOptions): Promise<GatewayEvent[]> {
  const { sessionId, from, lastEventId, until, heard, signal } = options;
  const query = new URLSearchParams({ sessionId, ...(from !== undefined && { from }) });
  const stop = new AbortController();
  const response = await ask(of, `/events?${query}`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  });
  if (!response.ok)
    throw new Error(`/events answered with status ${response.status}: ${await response.text()}`);
  const decoder = new SseDecoder();
  const reader = new EventReader();
  const events: GatewayEvent[] = [];
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      for (const { event = 'message', id, data } of decoder.feed(chunk)) {
        const read = reader.read(event, JSON.parse(data), id);
        events.push(read);
        heard?.(read);
        if (until(read)) return events;
      }
    }
  } finally {
    stop.abort();
  }
  throw new Error(`the stream ended after ${events.map(({ type }) => type).join(', ') || 'nothing'}`);
}
