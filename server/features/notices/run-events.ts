import type { GatewayEvent } from '../../../shared/events.js';
import { parseEvent } from '../../log/entry.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';

const [PAGE, PAGE_BYTES] = [500, 1024 * 1024];

/** The events of the log from a run's acceptance to its end, or to the present end of the log; none if they are no longer kept. */
export async function* runEvents(
  store: Pick<Store, 'run' | 'read'>,
  home: SessionRef,
  runId: string,
): AsyncGenerator<GatewayEvent, void, undefined> {
  const run = await store.run(home, { runId });
  if (!run) return;
  const log = { ...home, epoch: run.epoch };
  for (let after = run.accepted - 1; ; ) {
    const page = await store.read(log, after, PAGE, PAGE_BYTES);
    // Retention cut the run's first events off.
    if (page[0] && page[0].seq !== after + 1) return;
    for (const event of page) {
      yield parseEvent(event);
      if (event.type === 'message_end' && event.runId === runId) return;
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}
