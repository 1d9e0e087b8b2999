import type { GatewayEvent } from '../../shared/events.js';
import { parseEvent } from '../log/entry.js';
import type { SessionRef, Store } from '../stores/store.js';

const [PAGE, PAGE_BYTES] = [500, 1024 * 1024];

/** The events of the log from where a run was accepted to its end, or to where the log is now; none where they are not kept any more. */
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
    // Its beginning was cut off.
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
