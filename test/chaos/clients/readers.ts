import WebSocket from 'ws';
import { createClient } from '../../../client/index.js';
import { isLoggedType } from '../../../shared/schemas/events.js';
import { TOKEN } from '../../support/gateway.js';
import { RawReader } from '../../support/sse-client.js';
import type { Reading, Shown } from '../history.js';
import { oneOf, passes, pause, type Setting } from './setting.js';

/** A raw reader is silent for longer than its heartbeats allow. */
const SILENT_MS = 2500;

type Sees = (shown: Shown) => void;

function begin(setting: Setting, by: Reading['by'], reader: string, sessionId: string): Reading {
  const reading: Reading = { reader, sessionId, by, shown: [] };
  setting.readings.push(reading);
  return reading;
}

function shownBy(event: any): Shown | null {
  if (event.type === 'gap') return { kind: 'gap', reason: event.reason };
  if (event.type === 'snapshot')
    return { kind: 'snapshot', cursor: event.cursor ?? null, state: event.state };
  return isLoggedType(event.type) ? { kind: 'event', event } : null;
}

/** Follows a session from its beginning with the client of this package, by way of the balancer. */
export async function readBySdk(
  setting: Setting,
  sessionId: string,
  transport: 'sse' | 'websocket',
): Promise<void> {
  const reading = begin(setting, 'sdk', `${transport} client of ${sessionId}`, sessionId);
  const client = createClient({
    baseUrl: setting.cluster.url,
    token: TOKEN,
    transport,
    WebSocket: WebSocket as never,
  });
  setting.over.addEventListener('abort', () => client.disconnect());
  try {
    for await (const event of client.events(sessionId, { from: 'earliest', signal: setting.over })) {
      const shown = shownBy(event);
      if (shown) reading.shown.push(shown);
    }
  } catch (error) {
    if (!setting.over.aborted) reading.failed = String(error);
  } finally {
    client.disconnect();
  }
}

/** Follows a session from its beginning as a browser's EventSource does: it comes back to any gateway with the last id it has seen. */
export async function readRaw(
  setting: Setting,
  sessionId: string,
  options: { readonly name?: string; readonly sees?: Sees } = {},
): Promise<void> {
  const reading = begin(setting, 'raw', `${options.name ?? 'raw reader'} of ${sessionId}`, sessionId);
  const place = { after: '' };
  while (!setting.over.aborted) {
    await connection(setting, reading, place, options.sees);
    await pause(setting, 100);
  }
}

async function connection(
  setting: Setting,
  reading: Reading,
  place: { after: string },
  sees: Sees = () => {},
): Promise<void> {
  const abort = new AbortController();
  const leave = (): void => abort.abort();
  setting.over.addEventListener('abort', leave);
  let silence = setTimeout(leave, SILENT_MS);
  // It comes back sooner than a stream ends, so that it meets many gateways.
  const bored = setTimeout(leave, 1000 + setting.random() * 4000);
  const { url } = oneOf(setting, setting.cluster.nodes);
  try {
    const query = `sessionId=${encodeURIComponent(reading.sessionId)}&from=earliest`;
    const headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` };
    if (place.after !== '') headers['last-event-id'] = place.after;
    const response = await fetch(`${url}/events?${query}`, { headers, signal: abort.signal });
    if (!response.ok) {
      if (!passes(response.status)) reading.failed = `${response.status} ${await response.text()}`;
      return;
    }
    const reader = new RawReader();
    let isFirst = true;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(silence);
      silence = setTimeout(leave, SILENT_MS);
      for (const { event: type, id, data } of reader.feed(chunk)) {
        const shown = shownBy({ type, ...data });
        if (shown) {
          // Only what brings something tells where it went on from.
          if (isFirst) reading.shown.push({ kind: 'connected', after: place.after });
          isFirst = false;
          reading.shown.push(shown);
          sees(shown);
        }
        if (id !== undefined) place.after = id;
      }
    }
  } catch {
    // It was cut: the next connection goes on.
  } finally {
    clearTimeout(silence);
    clearTimeout(bored);
    setting.over.removeEventListener('abort', leave);
    abort.abort();
  }
}
