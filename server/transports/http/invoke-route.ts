import type { ServerResponse } from 'node:http';
import type { Caller } from '../../operations/caller.js';
import type { Invocation } from '../../operations/invoke.js';
import { sendJson } from './answer.js';
import type { HttpEnvironment } from './http-environment.js';
import { streamItems } from './method-stream.js';

/** Calls a custom method: its result as the JSON body, or a stream of its items. */
export async function invokeRoute(
  env: HttpEnvironment,
  response: ServerResponse,
  call: {
    readonly body: unknown;
    readonly caller: Caller;
    readonly accept: string | undefined;
    /** The header of readers that resume streams by themselves. */
    readonly lastEventId: string | undefined;
  },
): Promise<void> {
  const { caller, accept, lastEventId } = call;
  const body = withPlace(call.body, lastEventId);
  const pending = env.operations.invoke(body, caller, { expects: expectedOf(accept) });
  const outcome = pending instanceof Promise ? await pending : pending;
  if (outcome.kind === 'stream') {
    return streamItems(env, response, { stream: outcome.stream, identity: caller.identity });
  }
  const value = outcome.value instanceof Promise ? await outcome.value : outcome.value;
  sendJson(response, 200, value);
}

function withPlace(body: unknown, lastEventId: string | undefined): unknown {
  if (!lastEventId || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { lastEventId, ...body };
}

/** What a caller can read by its `Accept`; undefined where it says neither kind alone. */
function expectedOf(accept = ''): Invocation['kind'] | undefined {
  if (accept.includes('*')) return undefined;
  const [events, json] = [accept.includes('text/event-stream'), accept.includes('application/json')];
  if (events === json) return undefined;
  return events ? 'stream' : 'value';
}
