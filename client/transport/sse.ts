import { CALLS, EVENTS_PATH } from '../../shared/calls.js';
import { formatVector } from '../../shared/cursor.js';
import { EventReader } from '../../shared/event-reader.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { SseDecoder, type SseEvent } from '../../shared/sse.js';
import type { HttpOptions } from '../options.js';
import { abortWith, quietTimer, raceSignal, Watchdog } from '../timing.js';
import { Credentials, leftOf } from './credentials.js';
import { asGatewayError, silence } from './failure.js';
import {
  cancel,
  canStream,
  type HttpClient,
  type HttpRequest,
  isType,
  queryOf,
  request,
  requestOperation,
  toJson,
} from './http.js';
import type { ClientTransport, Link, LinkHandlers, TransportOptions } from './transport.js';

/** Sessions one GET may name; the others are added to the open stream. */
const URL_SESSIONS = 8;
/** Silence of this many heartbeats ends the stream of a method. */
const SILENT_HEARTBEATS = 2.5;

/**
 * Plain HTTP: a request an operation, one Server-Sent Events stream for all sessions. Works wherever `fetch` streams.
 *
 * @example
 * ```ts
 * const client = createClient({ transport: sseTransport({ baseUrl: '/agent', credentials: 'include' }) });
 * ```
 */
export function sseTransport(options: HttpOptions): ClientTransport {
  const client: HttpClient = { options, credentials: new Credentials(options) };
  return {
    name: 'sse',
    isScarce: true,
    request: (operation, params, { signal }) => requestOperation(client, operation, params, signal),
    stream: (params, options) => streamMethod(streaming(client), params, options),
    open: (targets, handlers) => openLink(streaming(client), targets, handlers),
    close: () => {},
  };
}

interface Reading {
  readonly decoder: SseDecoder;
  readonly progress?: (() => void) | undefined;
  /** Milliseconds for the answer to begin. */
  readonly answerMs?: number | undefined;
}

/** Looked at before anything else that a runtime without streams may lack. @throws GatewayError `INVALID_REQUEST` */
function streaming(client: HttpClient): HttpClient {
  if (!canStream(client.options)) throw wholeAnswer();
  return client;
}

function wholeAnswer(): GatewayError {
  const message =
    "This fetch does not stream, as React Native's own: use transport: 'websocket', or pass one that does (expo/fetch)";
  return new GatewayError({ code: 'INVALID_REQUEST', status: 400, message });
}

/** Reads a stream of events; leaving the iteration cancels it. */
async function* readEvents(client: HttpClient, ask: HttpRequest, { decoder, progress, answerMs }: Reading) {
  const late = new AbortController();
  const leave = () => abortWith(late, ask.signal.reason);
  const timer =
    answerMs !== undefined &&
    quietTimer(answerMs, () =>
      abortWith(late, new GatewayError({ code: 'TIMEOUT', message: 'No answer came in time' })),
    );
  ask.signal.addEventListener('abort', leave);
  if (ask.signal.aborted) leave();
  let response: Response;
  try {
    response = await request(client, {
      ...ask,
      signal: late.signal,
      headers: { ...ask.headers, accept: 'text/event-stream' },
    });
  } catch (error) {
    ask.signal.removeEventListener('abort', leave);
    throw error;
  } finally {
    clearTimeout(timer || undefined);
  }
  if (!isType(response, 'text/event-stream')) {
    cancel(response);
    const message = isType(response, 'application/json')
      ? `${ask.path} did not answer with a stream`
      : `${response.url || ask.path} answered, but not with events: is this the address of the gateway?`;
    throw new GatewayError({ code: 'NETWORK', message });
  }
  // No async iteration over the body: Safari has none.
  const reader = response.body?.getReader();
  if (!reader) throw wholeAnswer();
  try {
    for (;;) {
      const part = await raceSignal(ask.signal, () => reader.read());
      if (part.done) return;
      progress?.();
      // All that a chunk completes at once: a step of the iteration for each event would cost more than its decoding.
      yield decoder.feed(part.value);
    }
  } catch (cause) {
    throw asGatewayError(cause, `The stream of ${ask.path.split('?')[0]} broke off`);
  } finally {
    ask.signal.removeEventListener('abort', leave);
    reader.cancel().catch(() => {});
  }
}

async function* streamMethod(
  client: HttpClient,
  params: unknown,
  { signal, answerMs }: TransportOptions,
): AsyncGenerator<unknown> {
  const joined = new AbortController();
  const leave = () => abortWith(joined, signal.reason);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const watchdog = new Watchdog(() => abortWith(joined, silence()));
  let heartbeatMs = 0;
  const watch = () => heartbeatMs > 0 && watchdog.start(heartbeatMs * SILENT_HEARTBEATS);
  const ask = { path: CALLS.invoke.path, body: toJson(params), signal: joined.signal };
  try {
    for await (const events of readEvents(client, ask, {
      decoder: new SseDecoder(),
      progress: () => watchdog.heard(),
      answerMs,
    })) {
      // What the consumer does with an item may take its time, in which nothing is read.
      watchdog.stop();
      for (const { event, data } of events) {
        if (event === 'end') return;
        if (event === 'fail') throw GatewayError.fromJSON(JSON.parse(data));
        if (event === 'ping') heartbeatMs = JSON.parse(data).heartbeatMs ?? 0;
        if (event === 'chunk') yield JSON.parse(data);
      }
      watch();
    }
    throw new GatewayError({ code: 'NETWORK', message: 'The stream broke off' });
  } finally {
    watchdog.stop();
    signal.removeEventListener('abort', leave);
    joined.abort();
  }
}

function openLink(client: HttpClient, targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
  const abort = new AbortController();
  const { signal } = abort;
  const { credentials } = client;
  const decoder = new SseDecoder();
  const reader = new EventReader();
  let connectionId = '';
  let renewal: ReturnType<typeof setTimeout> | undefined;

  const finish = (error?: GatewayError) => {
    if (signal.aborted) return;
    clearTimeout(renewal);
    abortWith(abort, error);
    handlers.onClose({ error, retryMs: decoder.retryMs });
  };
  /** A stream is opened with its token: a new one takes over with the new token, before the old one runs out. */
  const renewAfter = (leftMs: number, isRetry = false) => {
    const waitMs = credentials.renewalMs(leftMs, isRetry);
    if (waitMs === undefined) return;
    const renew = () =>
      credentials.refresh().then(
        () => signal.aborted || handlers.onStale?.(),
        // The old token goes on; perhaps it will be given next time.
        () => signal.aborted || renewAfter(leftMs - waitMs, true),
      );
    renewal = quietTimer(waitMs, () => void renew());
  };
  const run = async () => {
    const ask = { ...opening(targets), signal };
    const reading = { decoder, progress: handlers.onProgress };
    for await (const events of readEvents(client, ask, reading)) for (const part of events) take(part);
  };
  const take = ({ event: type, data, id }: SseEvent) => {
    if (signal.aborted) return;
    const event = reader.read(type, JSON.parse(data), id);
    if (event.type === 'connected') {
      // Before it is passed on: what follows `connected` may already subscribe.
      connectionId = event.connectionId;
      const leftMs = leftOf(event);
      if (leftMs !== undefined) renewAfter(leftMs);
    } else if (type === 'auth_expired') credentials.expired();
    handlers.onEvent(event);
  };
  run().then(
    () => finish(),
    (error) => finish(asGatewayError(error, 'The stream broke off')),
  );
  return {
    subscribe: async (change) => {
      await requestOperation(client, 'subscribe', { connectionId, ...change }, signal);
    },
    close: () => finish(),
  };
}

/** What the GET itself can ask for: some sessions, all by cursor or all by the same word. */
function opening(targets: readonly SubscribeTarget[]) {
  const from = targets[0]?.from;
  const first = targets.filter((target) => target.from === from).slice(0, URL_SESSIONS);
  const query = queryOf([
    ...(from ? [['from', from] as const] : []),
    ...first.map(({ sessionId }) => ['sessionId', sessionId] as const),
  ]);
  const cursors = first.map(({ sessionId, cursor }) => [sessionId, cursor!] as const);
  // An empty cursor is no header, but has its place in a vector.
  const headers: Record<string, string> =
    first[0]?.cursor !== undefined
      ? { 'last-event-id': first[1] || !first[0].cursor ? formatVector(cursors) : first[0].cursor }
      : {};
  return { path: `${EVENTS_PATH}?${query}`, headers };
}
