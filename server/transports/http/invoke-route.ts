import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { encodeSse } from '../../../shared/sse.js';
import type { MethodStream } from '../../methods/stream.js';
import type { Caller } from '../../operations/caller.js';
import { publicError, sendJson } from './answer.js';
import type { HttpEnvironment } from './environment.js';
import { flushResponse, startSse } from './sse-sink.js';

/** Calls a custom method: its result as the JSON body, or SSE of `chunk` … `end` (`fail` when it breaks off). */
export async function invokeRoute(
  env: HttpEnvironment,
  response: ServerResponse,
  call: { readonly body: unknown; readonly caller: Caller },
): Promise<void> {
  const pending = env.operations.invoke(call.body, call.caller);
  const outcome = pending instanceof Promise ? await pending : pending;
  if (outcome.kind === 'stream') return streamItems(env, response, outcome.stream);
  const value = outcome.value instanceof Promise ? await outcome.value : outcome.value;
  sendJson(response, 200, value);
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
  try {
    for await (const item of stream) {
      const writable = response.write(encodeSse('chunk', JSON.stringify(item ?? null)));
      flushResponse(response);
      if (!writable && !response.closed)
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    if (!response.closed) response.end(encodeSse('end', '{}'));
  } catch (error) {
    if (!response.closed) response.end(encodeSse('fail', JSON.stringify(publicError(error, env.report))));
  }
}
