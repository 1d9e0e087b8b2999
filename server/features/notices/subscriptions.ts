import { createHash } from 'node:crypto';
import type { PushTarget } from '../../../shared/notices/contract.js';
import type { OwnerRoom } from '../../records/owner-room.js';
import type { StoredRecord } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import { type Endpoint, homeOfPushes, type KeptPush, PUSH_OWNERS, PUSHES } from './notice-record.js';

/** A person, and the scope that holds the person's browsers. */
export interface Subscriber {
  readonly scope: string;
  readonly userKey: string;
}

type SubscriptionStore = Pick<Store, 'records' | 'changeRecords'>;

const idOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('base64url');

/** A person's browsers. */
export async function pushesOf(store: SubscriptionStore, userKey: string): Promise<readonly Endpoint[]> {
  const records = await store.records({ owner: userKey, kind: PUSHES.name, limit: 1000 });
  const kept = records.flatMap((record) => PUSHES.read(record) ?? []);
  return kept.map(({ home: { scope }, id, value }) => ({ scope, id, host: new URL(value.endpoint).host }));
}

/**
 * Subscribes a browser for a person. Earlier users of the browser get no more pushes there.
 *
 * @throws GatewayError `QUOTA_EXCEEDED` naming `limits.pushSubscriptions`
 */
export function addPush(
  { store, owners }: { readonly store: SubscriptionStore; readonly owners: OwnerRoom },
  { scope, userKey }: Subscriber,
  { endpoint, keys: { p256dh, auth }, most }: PushTarget & { readonly most: number },
): Promise<void> {
  const id = idOf(endpoint);
  const bound = {
    ...{ kind: PUSHES.name, owner: userKey, most, option: 'limits.pushSubscriptions' },
    says: `A user has at most ${most} push subscriptions`,
    // One that subscribes again takes its own place.
    counts: (record: StoredRecord) => record.id !== id || record.home.scope !== scope,
  };
  return owners.add(bound, async () => {
    const before = await store.records({ owner: id, kind: PUSH_OWNERS.name, limit: 100 });
    for (const { home } of before) if (home.scope !== scope) await dropPush(store, { scope: home.scope, id });
    const kept: KeptPush = { userKey, endpoint, keys: { p256dh, auth }, addedAt: Date.now() };
    await store.changeRecords(homeOfPushes(scope), [PUSHES.put(id, kept), PUSH_OWNERS.put(id, {})]);
  });
}

/** Removes a browser's push subscription. */
export async function dropPush(
  store: Pick<Store, 'changeRecords'>,
  { scope, id }: { readonly scope: string; readonly id: string },
): Promise<void> {
  await store.changeRecords(homeOfPushes(scope), [PUSHES.drop(id), PUSH_OWNERS.drop(id)]);
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
