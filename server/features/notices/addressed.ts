import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import type { Endpoint, KeptNotice } from './notice-record.js';
import { endpointOf, formOfTarget, webhooksOf } from './run-webhooks.js';
import { pushesOf } from './subscriptions.js';

/** A notice for one receiver. */
export interface AddressedNotice extends KeptNotice {
  /** The receiver, of a target that has several. */
  readonly endpoint?: Endpoint;
}

/** A notice for each receiver of a target, by the target's name: a gateway without the target knows them too. */
export async function addressedBy(
  store: Pick<Store, 'records' | 'changeRecords'>,
  { home, kept, target }: { readonly home: SessionRef; readonly kept: KeptNotice; readonly target: string },
): Promise<readonly AddressedNotice[]> {
  if (target === 'push') return (await pushesOf(store, kept.to)).map((endpoint) => ({ ...kept, endpoint }));
  const form = formOfTarget(target);
  if (form === undefined) return [kept];
  // They belong to an owner of the session, whoever the run is for.
  const { byGrant: _, above = [], ...own } = kept;
  const addressed: AddressedNotice[] = [];
  // A child asks for the runs above it as well.
  for (const runId of [kept.notice.runId, ...above])
    if (runId !== undefined)
      for (const hook of await webhooksOf(store, home, { runId, form })) {
        const notice = { ...kept.notice, runId };
        addressed.push({ ...own, notice, to: hook.userKey, endpoint: endpointOf(home, hook) });
      }
  return addressed;
}
