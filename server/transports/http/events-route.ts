import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseVector, UNNAMED } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import { FEATURE_FOLLOWS } from '../../../shared/features.js';
import type { From, SubscribeTarget } from '../../../shared/operation-types.js';
import type { AppRegistry } from '../../apps/registry.js';
import type { ShownTicket } from '../../auth/tickets.js';
import type { Person } from '../../auth/types.js';
import type { EventConnection } from '../../delivery/connection.js';
import { asUnavailable } from '../../log/unavailable.js';
import { requestIdOf } from '../request-id.js';
import type { HttpEnvironment } from './http-environment.js';
import { retryLine, SseSink, startSse } from './sse-sink.js';
import { readerKey } from './unread.js';

const STARTS: ReadonlySet<string> = new Set<From>(['now', 'run', 'earliest', 'snapshot']);

/** The request of `GET /events`. */
export interface EventsRequest {
  readonly sessionIds: readonly string[];
  readonly from: From;
  readonly lastEventId: string | undefined;
}

/** The cursor that a reconnecting client names. The header wins, because a browser sets it itself. */
export function readLastEventId(request: IncomingMessage, query: URLSearchParams): string | undefined {
  const header = request.headers['last-event-id'];
  return (typeof header === 'string' && header !== '' ? header : query.get('lastEventId')) || undefined;
}

/** Converts the params of a host to the equivalent query; lists become repeated fields. */
export function queryOf(params: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of [value].flat()) if (item !== undefined) query.append(name, String(item));
  }
  return query;
}

/** @throws GatewayError `INVALID_PARAMS` */
export function readEventsRequest(query: URLSearchParams, lastEventId: string | undefined): EventsRequest {
  const from = query.get('from') ?? 'now';
  if (!STARTS.has(from)) {
    const details = [{ path: 'from', message: 'must be one of now, run, earliest, snapshot' }];
    throw new GatewayError({
      code: 'INVALID_PARAMS',
      message: 'from: must be one of now, run, earliest, snapshot',
      details,
    });
  }
  const others = Object.entries(FEATURE_FOLLOWS).filter(([, words]) => query.get(words.query) === 'true');
  return {
    sessionIds: [...new Set([...query.getAll('sessionId'), ...others.map(([name]) => name)])],
    from: from as From,
    lastEventId,
  };
}

/** Opens a stream of events. Its ids are the cursors of a single session, or vectors for several; this never changes later. */
export async function openEvents(
  env: HttpEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  call: { readonly person: Person; readonly events: EventsRequest; readonly ticket: ShownTicket | null },
): Promise<void> {
  const { draining, awayAt } = env.state;
  const isLate = env.load.turnsAway;
  if (draining || awayAt !== null || isLate) {
    const reason = awayAt !== null && !draining ? 'away' : 'drain';
    env.connections.tally.turnedAway[isLate && awayAt === null && !draining ? 'overload' : reason] += 1;
    // A 503 would stop a native EventSource for good.
    startSse(response);
    response.end(retryLine(reason, awayAt === null ? 0 : performance.now() - awayAt));
    return;
  }
  const targets = targetsOf(env.apps, call.events);
  const admitted = call.ticket?.admit(targets.map(({ sessionId }) => canonical(env.apps, sessionId)));
  if (admitted) await asUnavailable(() => admitted);
  const vector = call.events.sessionIds.length !== 1;
  const reader = readerKey(call.person, env.addressOf(request));
  const sink = new SseSink(request, response, {
    ids: vector ? 'vector' : 'cursor',
    ended: () => env.unread.watch(response, reader),
  });
  const { heartbeatMs, slowClientMs, streamMs } = env.limits;
  const connection: EventConnection = env.connections.add({
    id: env.connections.newId(),
    transport: 'sse',
    person: call.person,
    requestId: requestIdOf(response),
    form: sink.form,
    sink,
    heartbeatMs,
    slowClientMs,
    maxAgeMs: streamMs,
    vector,
    client: true,
    onFollow: call.ticket?.serve({ supersede: () => connection.end('interrupted') }),
  });
  // A client that left while it was authenticated has closed its response already.
  if (response.closed) connection.gone();
  else response.once('close', () => connection.gone());
  sink.onDrain(() => connection.drained());
  try {
    await env.operations.open(connection, targets);
  } catch (error) {
    connection.gone('failed');
    throw error;
  }
}

function targetsOf(apps: AppRegistry, { sessionIds, from, lastEventId }: EventsRequest): SubscribeTarget[] {
  const cursors = lastEventId === undefined ? null : parseVector(lastEventId);
  const single = sessionIds.length === 1;
  // Its reader may have missed something in the sessions that had no room in the vector, and is told so.
  const missing = cursors?.delete(UNNAMED) ? UNNAMED : undefined;
  const targets = new Map<string, SubscribeTarget>();
  for (const sessionId of sessionIds) {
    const id = canonical(apps, sessionId);
    // A text that is neither a vector nor the single session's cursor is passed on, so that it is refused as malformed.
    const cursor = cursors?.get(id) ?? (cursors && !single ? missing : lastEventId);
    targets.set(id, targetAt(sessionId, cursor, from));
  }
  // A vector restores all sessions that it names, also those that were subscribed later.
  if (cursors && !single) {
    for (const [sessionId, cursor] of cursors)
      if (!targets.has(sessionId)) targets.set(sessionId, targetAt(sessionId, cursor, from));
  }
  return [...targets.values()];
}

function canonical(apps: AppRegistry, sessionId: string): string {
  if (Object.hasOwn(FEATURE_FOLLOWS, sessionId)) return sessionId;
  const { app, name } = apps.parse(sessionId);
  return apps.format(app, name);
}

function targetAt(sessionId: string, cursor: string | undefined, from: From): SubscribeTarget {
  return { sessionId, cursor, from };
}
