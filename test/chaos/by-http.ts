import { get, post, TOKEN } from '../support/gateway.js';
import { openStream, type RawEvent, type RawStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import type { ChaosNode } from './chaos-node.js';

/** What a gateway says whose store is away. */
export const AWAY = '503 of a store that is away';
const AWAY_REASONS: readonly unknown[] = ['store-silent', 'store-unwritable'];

/** What a gateway answers when it is asked whether it can take work. */
export async function readinessOf({ url }: ChaosNode): Promise<string> {
  const { status, body } = await get(`${url}/readyz`);
  if (status === 200) return 'ready';
  const { reason } = body.error.details;
  return AWAY_REASONS.includes(reason) ? AWAY : `${status} ${reason}`;
}

/** Waits until a gateway answers so. */
export const becomes = (node: ChaosNode, readiness: string): Promise<void> =>
  until(async () => (await readinessOf(node)) === readiness);

/** Follows a session, from a place or from its beginning. */
export const follow = ({ url }: ChaosNode, sessionId: string, after?: string): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...(after !== undefined && { 'last-event-id': after }) },
  });

/** Sends a message, under a key of its own. */
export const say = ({ url }: ChaosNode, sessionId: string, text: string) =>
  post(`${url}/send`, { sessionId, message: text, idempotencyKey: text.replaceAll(/\W/g, '-') });

/** Says something as often as it takes: a gateway may still have to find out who holds the session. */
export const insist = (node: ChaosNode, sessionId: string, text: string): Promise<void> =>
  until(async () => (await say(node, sessionId, text)).status === 200);

/** Follows a session until something came, as often as it takes: a gateway that is back may still send its clients away. */
export async function read(
  node: ChaosNode,
  sessionId: string,
  { isIt, after }: { readonly isIt: (event: RawEvent) => boolean; readonly after?: string | undefined },
): Promise<RawStream> {
  for (;;) {
    const stream = await follow(node, sessionId, after);
    const came = await stream.until(isIt).then(
      () => true,
      () => false,
    );
    if (came) return stream;
  }
}
