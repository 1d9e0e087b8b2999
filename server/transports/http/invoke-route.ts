import type { ServerResponse } from 'node:http';
import type { Caller } from '../../operations/caller.js';
import { sendJson } from './answer.js';
import type { HttpEnvironment } from './environment.js';
import { streamItems } from './method-stream.js';

/** Calls a custom method: its result as the JSON body, or a stream of its items. */
export async function invokeRoute(
  env: HttpEnvironment,
  response: ServerResponse,
  { body, caller }: { readonly body: unknown; readonly caller: Caller },
): Promise<void> {
  const pending = env.operations.invoke(body, caller);
  const outcome = pending instanceof Promise ? await pending : pending;
  if (outcome.kind === 'stream') {
    return streamItems(env, response, { stream: outcome.stream, identity: caller.identity });
  }
  const value = outcome.value instanceof Promise ? await outcome.value : outcome.value;
  sendJson(response, 200, value);
}
