import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCursor } from '../../../shared/cursor.js';
import type { RunOperation } from '../../../shared/operations.js';
import { encodeSse } from '../../../shared/sse.js';
import { hasToken, prefers } from '../../accept.js';
import { newConnectionId } from '../../ids.js';
import type { Caller } from '../../operations/caller.js';
import type { Sent } from '../../operations/send-operations.js';
import { nameAnswer } from '../request-id.js';
import { sendJson } from './answer.js';
import type { HttpEnvironment } from './http-environment.js';
import { SseSink } from './sse-sink.js';
import { readerKey } from './unread.js';

/**
 * Starts a run and answers in the caller's preferred way: with SSE of its events, with one JSON result (`Accept: application/json`), or
 * with 202 as soon as the message is accepted (`Prefer: respond-async`, RFC 7240).
 */
export async function startRun(
  env: HttpEnvironment,
  name: RunOperation,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  call: { readonly body: unknown; readonly caller: Caller },
): Promise<void> {
  const { headers } = request;
  const body = withKey(call.body, headers['idempotency-key']);
  if (hasToken(headers.prefer?.toString(), 'respond-async')) {
    const { accepted } = await env.operations.start(name, body, call.caller);
    response.setHeader('Preference-Applied', 'respond-async');
    return sendJson(response, 202, accepted);
  }
  // Count the response before the message is accepted, so that a refusal here means that nothing was sent.
  const release = env.calls.hold(call.caller.person);
  if (response.closed) release();
  else response.once('close', release);
  const sent = await env.operations.start(name, body, call.caller);
  if (prefers(headers.accept, 'application/json', 'text/event-stream')) {
    const left = sent.session.viewers.wait();
    const leave = (): void => left(!response.writableFinished);
    if (response.closed) leave();
    else response.once('close', leave);
    return sendJson(response, 200, await sent.result);
  }
  await streamRun(env, request, response, { sent, person: call.caller.person });
}

/** Adds the key of the header `Idempotency-Key` to the body, unless the body has a key. */
function withKey(body: unknown, header: string | string[] | undefined): unknown {
  if (typeof header !== 'string' || typeof body !== 'object' || body === null || Array.isArray(body))
    return body;
  return { idempotencyKey: header, ...body };
}

async function streamRun(
  env: HttpEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  { sent, person }: { readonly sent: Sent; readonly person: Caller['person'] },
): Promise<void> {
  if (sent.repeated && (await cutAway(sent))) return sendOutcome(response, sent);
  const reader = readerKey(person, env.addressOf(request));
  const ended = (): void => env.unread.watch(response, reader);
  const sink = new SseSink(request, response, { ids: 'cursor', ended });
  const { heartbeatMs, slowClientMs } = env.limits;
  const connection = env.connections.add({
    id: newConnectionId(),
    transport: 'sse',
    person,
    form: sink.form,
    sink,
    heartbeatMs,
    slowClientMs,
    client: false,
    ofRun: true,
  });
  if (response.closed) connection.gone();
  else response.once('close', () => connection.gone());
  sink.onDrain(() => connection.drained());
  const finish = (): void => {
    connection.gone('done');
    sink.finish();
  };
  const { 'last-event-id': lastEventId } = request.headers;
  const cursor = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : sent.accepted.cursor;
  await connection.followRun(sent.session, cursor, {
    runId: sent.runId,
    result: sent.result,
    ended: finish,
  });
}

/** Whether the beginning of a repeated run is no longer kept. */
async function cutAway({ session, accepted }: Sent): Promise<boolean> {
  const place = parseCursor(accepted.cursor);
  if (!place) return true;
  const log = session.log?.ref.epoch === place.epoch ? session.log : await session.pastLog(place.epoch);
  return !log || place.seq < log.first - 1;
}

/** Streams the result of a run whose events were cut, as its `message_end` alone. */
async function sendOutcome(response: ServerResponse, sent: Sent): Promise<void> {
  const { cursor, ...outcome } = await sent.result;
  const data = { sessionId: sent.session.id, ts: Date.now(), ...outcome };
  nameAnswer(response);
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
  });
  response.end(encodeSse('message_end', JSON.stringify(data), cursor));
}
