import type { EventRecord } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { createDelta } from './application.js';

/** What is appended to a store, without a gateway. */
export interface Appends {
  readonly sessions: number;
  /** Events of one append. */
  readonly events: number;
  /** Appends to each session, one after the other. */
  readonly appends: number;
}

/** Appends to many sessions at once, each waiting for its own appends alone. Returns how long that took, in microseconds. */
export async function appendTo(store: Store, { sessions, events, appends }: Appends): Promise<number> {
  const run = String(process.hrtime.bigint());
  const logs = await Promise.all(
    Array.from({ length: sessions }, async (_, n) => {
      const ref = { scope: 'bench', app: 'default', name: `a${run}-${n}` };
      const acquired = await store.acquire(ref, { holder: 'bench', create: { epoch: `e${run}` } });
      if (acquired.kind !== 'acquired') throw new Error(`${ref.name} is ${acquired.kind}`);
      return { log: { ...ref, epoch: acquired.head.epoch }, term: acquired.head.term };
    }),
  );
  const began = process.hrtime.bigint();
  await Promise.all(
    logs.map(async ({ log, term }) => {
      for (let batch = 1; batch <= appends; batch++) {
        const batchOf = Array.from(
          { length: events },
          (): EventRecord => ({
            seq: 0,
            term: 0,
            type: 'content_delta',
            ts: Date.now(),
            runId: 'run_bench',
            body: JSON.stringify({ runId: 'run_bench', ...createDelta() }),
          }),
        );
        await store.append(log, batchOf, { term, batch });
      }
    }),
  );
  return Number((process.hrtime.bigint() - began) / 1000n);
}
