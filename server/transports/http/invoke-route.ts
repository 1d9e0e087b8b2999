import type { ServerResponse } from 'node:http';
import { encodeSse } from '../../../shared/sse.js';
import type { MethodStream } from '../../methods/stream.js';
import type { Caller } from '../../operations/caller.js';
import type { Invocation } from '../../operations/invoke.js';
import { publicError } from '../public-error.js';
import { sendJson } from './answer.js';
import type { HttpEnvironment } from './environment.js';
import { flushResponse, startSse } from './sse-sink.js';

/** Calls a custom method: its result as the JSON body, or SSE of `chunk` … `end` (`fail` when it breaks off). */
export async function invokeRoute(
  env: HttpEnvironment,
  response: ServerResponse,
  call: { readonly body: unknown; readonly caller: Caller; readonly accept: string | undefined },
): Promise<void> {
  const pending = env.operations.invoke(call.body, call.caller, { expects: expectedOf(call.accept) });
  const outcome = pending instanceof Promise ? await pending : pending;
  if (outcome.kind === 'stream') return streamItems(env, response, outcome.stream);
  const value = outcome.value instanceof Promise ? await outcome.value : outcome.value;
  sendJson(response, 200, value);
}

/** What a caller can read by its `Accept`; undefined where it says neither kind alone. */
function expectedOf(accept = ''): Invocation['kind'] | undefined {
  if (accept.includes('*')) return undefined;
  const [events, json] = [accept.includes('text/event-stream'), accept.includes('application/json')];
  if (events === json) return undefined;
  return events ? 'stream' : 'value';
}

async function streamItems(
  env: HttpEnvironment,
  response: ServerResponse,
  stream: MethodStream,
): Promise<void> {
  // A denial or bad params are answered with their status, before the stream begins.
  await stream.open();
  response.once('close', () => void stream.return());
  startSse(response);
  const { heartbeatMs } = env.limits;
  // While nothing comes, so that neither proxies nor the caller take the silence for a dead connection. The first says how often.
  const beat = () => {
    if (response.writableNeedDrain || response.closed) return;
    response.write(encodeSse('ping', JSON.stringify({ heartbeatMs })));
    flushResponse(response);
  };
  beat();
  const timer = setInterval(beat, heartbeatMs).unref();
  try {
    for await (const item of stream) {
      const writable = response.write(encodeSse('chunk', JSON.stringify(item ?? null)));
      flushResponse(response);
      if (!writable && !response.closed) await drained(response);
    }
    if (!response.closed) response.end(encodeSse('end', '{}'));
  } catch (error) {
    if (!response.closed) response.end(encodeSse('fail', JSON.stringify(publicError(error, env.report))));
  } finally {
    clearInterval(timer);
  }
}

/** Resolves when there is room again, or nobody left to need it. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
