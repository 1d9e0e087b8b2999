import { randomUUID } from 'node:crypto';
import { isGatewayError, type SessionHandle } from '../../server/index.js';
import { post } from './gateway.js';

/** Clients wait as long as they are asked to; tests have no time for that. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Calls again until the store takes it, as a client does with what may be repeated. */
export async function insist<T>(call: () => PromiseLike<T> | T): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isGatewayError(error) || error.code !== 'OVERLOADED') throw error;
      await pause();
    }
  }
}

/** Sends a message until it is taken, under one key. */
export function sendUntilTaken(
  session: SessionHandle,
  message: Parameters<SessionHandle['send']>[0],
  options: Parameters<SessionHandle['send']>[1] = {},
): Promise<ReturnType<SessionHandle['send']>> {
  const keyed = { idempotencyKey: randomUUID(), ...options };
  return insist(async () => {
    const run = session.send(message, keyed);
    await run.accepted;
    return run;
  });
}

/** POSTs JSON until the store takes it, a message under one key. */
export async function postUntilTaken(
  ...[url, body, headers]: Parameters<typeof post>
): ReturnType<typeof post> {
  const unkeyed = url.endsWith('/send') && !(body as { idempotencyKey?: string }).idempotencyKey;
  const keyed = { ...(unkeyed && { 'idempotency-key': randomUUID() }), ...headers };
  for (;;) {
    const answer = await post(url, body, keyed);
    if (answer.status !== 503) return answer;
    await pause();
  }
}

/** Fetches until the store can be read. */
export async function fetchUntilServed(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 503) return response;
    await response.body?.cancel();
    await pause();
  }
}
