import type { StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';

const PAGE = 500;

/** All records of an owner, in all homes, read in pages. @throws StoreError */
export async function* recordsOf(
  store: Pick<Store, 'records'>,
  named: { readonly owner: string; readonly kind: string },
): AsyncGenerator<StoredRecord> {
  for (let after: StoredRecord | undefined; ; ) {
    const page = await store.records({ ...named, limit: PAGE, ...(after && { after }) });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}
