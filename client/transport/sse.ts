import { CALLS, EVENTS_PATH } from '../../shared/calls.js';
import { formatVector } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { SseDecoder } from '../../shared/sse.js';
import type { HttpOptions } from '../options.js';
import { asNetworkError, type HttpRequest, isType, request, requestOperation } from './http.js';
import type { ClientTransport, Link, LinkHandlers, SubscriptionChange } from './transport.js';

/** Sessions one GET may name; the others are added to the open stream. */
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
  return {
    name: 'sse',
    request: (operation, params, { signal }) => requestOperation(options, operation, params, signal),
    stream: (params, { signal }) => streamMethod(options, params, signal),
    open: (targets, handlers) => openLink(options, targets, handlers),
    close: () => {},
  };
}

/** Reads a stream of events; leaving the iteration cancels it. */
async function* readEvents(options: HttpOptions, ask: HttpRequest, decoder: SseDecoder) {
  const response = await request(options, {
    ...ask,
    headers: { ...ask.headers, accept: 'text/event-stream' },
  });
  // No async iteration over the body: Safari has none.
  const reader = response.body?.getReader();
  if (!reader || !isType(response, 'text/event-stream')) {
    await reader?.cancel().catch(() => {});
    throw new GatewayError({
      code: 'NETWORK',
      message: `${ask.path} answered without events`,
    });
  }
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      yield* decoder.feed(part.value);
  } catch (cause) {
    throw asNetworkError(cause);
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function* streamMethod(
  options: HttpOptions,
  body: unknown,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  for await (const { event, data } of readEvents(
    options,
    { path: CALLS.invoke.path, body: JSON.stringify(body), signal },
    new SseDecoder(),
  )) {
    if (event === 'end') return;
    if (event === 'fail') throw GatewayError.fromJSON(JSON.parse(data));
    if (event === 'chunk') yield JSON.parse(data);
  }
  throw new GatewayError({ code: 'NETWORK', message: 'The stream broke off' });
}

function openLink(options: HttpOptions, targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
  const abort = new AbortController();
  const { signal } = abort;
  const decoder = new SseDecoder();
  const { ask, later } = planOpening(targets);
  let connectionId = '';

  const finish = (error?: GatewayError) => {
    if (signal.aborted) return;
    abort.abort();
    handlers.onClose({ error, retryMs: decoder.retryMs });
  };
  const subscribe = async (change: SubscriptionChange) => {
    await requestOperation(options, 'subscribe', { connectionId, ...change }, signal);
  };
  const run = async () => {
    for await (const { event: type, data } of readEvents(options, { ...ask, signal }, decoder)) {
      if (signal.aborted) return;
      const event = { ...JSON.parse(data), type };
      // Before it is passed on: what follows `connected` may already subscribe.
      if (type === 'connected') connectionId = event.connectionId;
      handlers.onEvent(event as GatewayEvent);
      if (type === 'connected' && later.length > 0) subscribe({ add: later }).catch(finish);
    }
  };
  run().then(
    () => finish(),
    (error) => finish(asNetworkError(error)),
  );
  return { subscribe, close: () => finish() };
}

/** What the GET itself can ask for: some sessions, all by cursor or all by the same word. The others are added once it is open. */
function planOpening(targets: readonly SubscribeTarget[]) {
  const from = targets[0]?.from;
  const first = targets.filter((target) => target.from === from).slice(0, URL_SESSIONS);
  const query = new URLSearchParams(from && { from });
  for (const { sessionId } of first) query.append('sessionId', sessionId);
  const cursors = first.map(({ sessionId, cursor }) => [sessionId, cursor!] as const);
  const headers = first[0]?.cursor
    ? { 'last-event-id': first[1] ? formatVector(cursors) : first[0].cursor }
    : {};
  return {
    ask: { path: `${EVENTS_PATH}?${query}`, headers },
    later: targets.filter((target) => !first.includes(target)),
  };
}
