import { sessionControl, sessionReactions } from '../../client/people/index.js';
import type { Application, GatewayConfig } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { type Message, textOf } from '../../shared/messages.js';
import { connectClient, takeUntil } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';

/** A page of a user in the session `main`. */
export function pageOf(url: string, name: string, sessionId = 'main') {
  const client = connectClient(url, { token: name });
  const session = client.session(sessionId);
  return { client, session, ...sessionControl(client, sessionId), ...sessionReactions(client, sessionId) };
}

/** A gateway whose sessions all users share, with pages of `ann`, `ben` and a `guest`. */
export async function startShared(app: Application, config: Partial<GatewayConfig> = {}) {
  const limits = { sendsPerSecond: 10_000, ...config.limits };
  const started = await startGateway({ app, auth: byName, sessionScope: 'global', ...config, limits });
  const { url } = started;
  const [ann, ben, guest] = ['ann', 'ben', 'guest'].map((name) => pageOf(url, name));
  const events = ann!.client.events('main', { from: 'earliest' });
  /** The events up to the first that fits. */
  const upTo = (fits: (event: GatewayEvent) => boolean) => takeUntil(events, fits);
  return { ...started, ann: ann!, ben: ben!, guest: guest!, upTo };
}

/** A message as a reader of a test sees it. */
export const said = ({ role, author, senderId, stopReason, ...message }: Message): string =>
  `${[author ?? role, senderId, stopReason].filter(Boolean).join(' ')}: ${textOf(message)}`;
