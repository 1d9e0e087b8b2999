import { EVENTS_PATH, routeOf } from '../../shared/calls.js';
import { formatVector } from '../../shared/cursor.js';
import { EventReader } from '../../shared/event-reader.js';
import type { StreamItem } from '../../shared/frames.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { SseDecoder, type SseEvent } from '../../shared/sse.js';
import { createWatchdog, openScope, raceSignal } from '../timing.js';
import { createCredentials } from './credentials.js';
import { broken, foreign, lateness, misused, silence } from './failure.js';
import {
  below,
  cancel,
  canStream,
  type HttpClient,
  type HttpRequest,
  isEvents,
  queryOf,
  request,
  requestOperation,
  toJson,
} from './http.js';
import type { HttpOptions } from './http-options.js';
import type { ClientTransport, Link, LinkHandlers, TransportOptions } from './transport.js';

/** The number of sessions that one GET may name. The others are added to the open stream. */
const URL_SESSIONS = 8;

/**
 * Plain HTTP: a request an operation, one Server-Sent Events stream for all sessions. Works wherever `fetch` streams.
 *
 * @example
 * ```ts
 * const client = createClient({ transport: sseTransport({ baseUrl: '/agent', credentials: 'include' }) });
 * ```
 */
export function sseTransport(options: HttpOptions): ClientTransport {
  const client: HttpClient = { options, credentials: createCredentials(options) };
  return {
    name: 'sse',
    address: options.baseUrl,
    isScarce: true,
    request: (operation, params, { signal }) => requestOperation(client, operation, params, signal),
    stream: (params, options) => streamMethod(streaming(client), params, options),
    open: (targets, handlers) => openLink(streaming(client), targets, handlers),
    look: client.credentials.look,
    close: () => {},
  };
}

/** Checked before anything else that a runtime without streams may lack. @throws GatewayError `INVALID_REQUEST` */
function streaming(client: HttpClient): HttpClient {
  if (!canStream(client.options)) throw wholeAnswer();
  return client;
}

function wholeAnswer(): GatewayError {
  return misused(
    "This fetch does not stream: use transport: 'websocket', or pass one that does (on React Native expo/fetch)",
  );
}

/** Reads a stream of events; leaving the iteration cancels it. */
async function* readEvents(
  client: HttpClient,
  ask: HttpRequest,
  decoder: SseDecoder,
  onProgress?: () => void,
) {
  const { path, signal } = ask;
  const response = await request(client, {
    ...ask,
    headers: { ...ask.headers, accept: 'text/event-stream' },
  });
  onProgress?.();
  if (!isEvents(response)) {
    cancel(response);
    throw foreign(response.url || path, 'not with events');
  }
  // No async iteration over the body, since Safari has none.
  const reader = response.body?.getReader();
  if (!reader) throw wholeAnswer();
  try {
    for (;;) {
      const part = await raceSignal(signal, () => reader.read());
      if (part.done) return;
      onProgress?.();
      // All events of a chunk at once: a step of the iteration for each event would cost more than its decoding.
      yield decoder.feed(part.value);
    }
  } catch (cause) {
    throw broken(below(client.options.baseUrl, path.split('?')[0]!), cause);
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function* streamMethod(
  client: HttpClient,
  params: unknown,
  { signal: given, answerMs = Number.POSITIVE_INFINITY }: TransportOptions,
): AsyncGenerator<StreamItem> {
  const scope = openScope(given);
  const { signal, abort } = scope;
  const { path } = routeOf('invoke');
  const address = below(client.options.baseUrl, path);
  const watchdog = createWatchdog(() => abort(silence(address)));
  const lift = scope.limit(answerMs, () => lateness(address, 'the call', answerMs));
  const progress = () => {
    lift();
    watchdog.heard();
  };
  let heartbeatMs = 0;
  const ask = { path, body: toJson(params), signal };
  try {
    for await (const events of readEvents(client, ask, new SseDecoder(), progress)) {
      // The consumer may take its time with an item, and nothing is read meanwhile.
      watchdog.stop();
      for (const { event, data, id } of events) {
        const place = id && { eventId: id };
        if (event === 'end') return;
        if (event === 'fail') throw GatewayError.fromJSON(JSON.parse(data));
        if (event === 'ping') heartbeatMs = JSON.parse(data).heartbeatMs ?? 0;
        if (event === 'chunk') yield { data: JSON.parse(data), ...place };
        if (event === 'mark' && place) yield place;
      }
      if (heartbeatMs > 0) watchdog.expect(heartbeatMs);
    }
    throw broken(address);
  } finally {
    watchdog.stop();
    scope.release();
    abort();
  }
}

function openLink(client: HttpClient, targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
  const { signal, abort } = openScope();
  const { credentials } = client;
  const decoder = new SseDecoder();
  const reader = new EventReader();
  let connectionId = '';
  let stopRenewal = () => {};

  const finish = (error?: GatewayError) => {
    if (signal.aborted) return;
    stopRenewal();
    abort(error);
    handlers.onClose({ error, retryMs: decoder.retryMs });
  };
  const run = async () => {
    const ask = { ...opening(targets), signal };
    for await (const events of readEvents(client, ask, decoder, handlers.onProgress)) events.forEach(take);
  };
  const take = ({ event: type, data, id }: SseEvent) => {
    if (signal.aborted) return;
    const event = reader.read(type, JSON.parse(data), id);
    if (event.type === 'connected') {
      // Set before the event is passed on, since its receiver may subscribe at once.
      connectionId = event.connectionId;
      credentials.confirm();
      // A stream keeps the token that it was opened with. A new stream takes over with the new token, before the old one runs out.
      stopRenewal = credentials.renew(event.authExpiresInMs, () => handlers.onStale?.());
    } else if (type === 'auth_expired') credentials.expired();
    handlers.onEvent(event);
  };
  run().then(
    () => finish(),
    (error) => finish(broken(client.options.baseUrl, error)),
  );
  return {
    subscribe: async (change) => {
      await requestOperation(client, 'subscribe', { connectionId, ...change }, signal);
    },
    close: () => finish(),
  };
}

/** The part of the targets that the GET itself can ask for: sessions that all start by cursor, or all by the same word. */
function opening(targets: readonly SubscribeTarget[]) {
  const from = targets[0]?.from;
  const first = targets.filter((target) => target.from === from).slice(0, URL_SESSIONS);
  const query = queryOf([['from', from], ...first.map(({ sessionId }) => ['sessionId', sessionId] as const)]);
  const cursors = first.map(({ sessionId, cursor }) => [sessionId, cursor!] as const);
  // A header cannot be empty, but a vector can hold an empty cursor.
  const headers: Record<string, string> =
    first[0]?.cursor !== undefined
      ? { 'last-event-id': first[1] || !first[0].cursor ? formatVector(cursors) : first[0].cursor }
      : {};
  return { path: `${EVENTS_PATH}?${query}`, headers };
}
