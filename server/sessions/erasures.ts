import { GatewayError } from '../../shared/errors.js';
import type { RecordHome } from '../stores/records.js';
import { homeOf } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { LogRef } from '../stores/stored.js';

/** Kind of the records of erasures under way. */
export const ERASURE = 'erasure';
/** Home of records that no scope has: the scope of a user is never empty. */
export const GATEWAYS: RecordHome = { scope: '' };

/**
 * Refuses a copy of a log that was erased, or is being erased. Asked once the copy's session is there, which an erasure that begins later finds.
 *
 * @throws GatewayError `SESSION_NOT_FOUND`; StoreError
 */
export async function assertKept(
  store: Pick<Store, 'head' | 'records'>,
  { epoch, ...ref }: LogRef,
): Promise<void> {
  const erasures = await store.records({ home: GATEWAYS, kind: ERASURE, limit: 10_000 });
  const covers = ({ scope, app, name }: RecordHome): boolean =>
    scope === ref.scope && (app === undefined || (app === ref.app && name === ref.name));
  const isErased = erasures.some(({ id }) => id.startsWith('[') && covers(homeOf(id)));
  const head = isErased ? null : await store.head(ref, epoch);
  if (head && !head.closed) return;
  const message = 'The session to fork was deleted while it was copied';
  throw new GatewayError({ code: 'SESSION_NOT_FOUND', message });
}
