import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';
import { post, TOKEN } from '../support/gateway.js';
import { openStream, type RawEvent } from '../support/sse-client.js';

/** An event as a reader has it, whole. */
export type ReadEvent = GatewayEvent & { readonly runId?: string; readonly cursor: string };

/** Sends a message, and does not wait for the answer. */
export async function sendTo(url: string, message: string, more: object = {}): Promise<string> {
  const { body } = (await post(
    `${url}/send`,
    { sessionId: 'main', message, ...more },
    { prefer: 'respond-async' },
  )) as {
    readonly body: { readonly runId: string };
  };
  return body.runId;
}

/** All events of the session until one, whole. */
export async function eventsUntil(
  url: string,
  isLast: (event: RawEvent) => boolean,
  from = 'from=earliest',
): Promise<readonly ReadEvent[]> {
  const stream = await openStream(`${url}/events?sessionId=main&${from}&token=${TOKEN}`);
  await stream.until(isLast);
  stream.close();
  const logged = stream.events.filter(({ event }) => event !== 'connected' && event !== 'heartbeat');
  return logged.map(({ event, data, id }) => ({ type: event, ...(data as object), cursor: id }) as never);
}

/** Until the run of that id has ended. */
export const endOf =
  (runId: string) =>
  ({ event, data }: RawEvent): boolean =>
    event === 'message_end' && (data as { runId?: string }).runId === runId;

export const foldOf = (events: readonly ReadEvent[], from: SessionState = initialState): SessionState =>
  events.reduce<SessionState>((state, event) => reduce(state, event), from);

/** The answers of a message's children, by name. */
export const childrenOf = (state: SessionState): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (state.messages.at(-1)?.children ?? []).map(({ name, message, stopReason }) => [
      name!,
      `${stopReason}: ${textOf(message)}`,
    ]),
  );
