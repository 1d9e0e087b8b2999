import { createHash } from 'node:crypto';
import type { PushTarget } from '../../shared/notices.js';
import { LimitError } from '../limit-error.js';
import type { Store } from '../stores/store.js';
import { dropPush } from './browser-target.js';
import { homeOfPushes, type KeptPush, PUSH, PUSH_OWNER, type PushPlace } from './notice-record.js';

/** A person, and the scope that holds the person's browsers. */
export interface Subscriber {
  readonly scope: string;
  readonly userKey: string;
}

type SubscriptionStore = Pick<Store, 'records' | 'changeRecords'>;

const idOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('base64url');

/** A person's browsers. */
export async function pushesOf(store: SubscriptionStore, userKey: string): Promise<readonly PushPlace[]> {
  const records = await store.records({ owner: userKey, kind: PUSH, limit: 1000 });
  return records.map(({ home: { scope }, id, value }) => {
    const { endpoint } = JSON.parse(value) as KeptPush;
    return { scope, id, host: new URL(endpoint).host };
  });
}

/**
 * Subscribes a browser for a person. Earlier users of the browser get no more pushes there.
 *
 * @throws GatewayError `QUOTA_EXCEEDED` naming `limits.pushSubscriptions`
 */
export async function addPush(
  store: SubscriptionStore,
  { scope, userKey }: Subscriber,
  { endpoint, keys, most }: PushTarget & { readonly most: number },
): Promise<void> {
  const id = idOf(endpoint);
  const others = (await pushesOf(store, userKey)).filter((push) => push.id !== id || push.scope !== scope);
  if (others.length >= most) {
    const message = `A user has at most ${most} push subscriptions (limits.pushSubscriptions)`;
    throw new LimitError('limits.pushSubscriptions', { code: 'QUOTA_EXCEEDED', message });
  }
  const owners = await store.records({ owner: id, kind: PUSH_OWNER, limit: 100 });
  for (const { home } of owners) if (home.scope !== scope) await dropPush(store, { scope: home.scope, id });
  const { p256dh, auth } = keys;
  const kept: KeptPush = { endpoint, keys: { p256dh, auth }, addedAt: Date.now() };
  await store.changeRecords(homeOfPushes(scope), [
    { kind: PUSH, id, owner: userKey, value: JSON.stringify(kept) },
    { kind: PUSH_OWNER, id, owner: id, value: '{}' },
  ]);
}

/** Removes a person's browser, if it is subscribed. */
export async function removePush(
  store: SubscriptionStore,
  { userKey }: Subscriber,
  endpoint: string,
): Promise<void> {
  const id = idOf(endpoint);
  for (const push of await pushesOf(store, userKey)) if (push.id === id) await dropPush(store, push);
}
