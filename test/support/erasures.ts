import type { Store } from '../../server/index.js';
import { ERASURE, GATEWAYS } from '../../server/sessions/erasures.js';
import type { StoredRecord } from '../../server/stores/records.js';

/** The records of erasures that are not complete. */
export const erasuresIn = async (store: Store): Promise<readonly StoredRecord[]> =>
  store.records({ home: GATEWAYS, kind: ERASURE, limit: 100 });
