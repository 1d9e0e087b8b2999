import { GatewayError } from '../../shared/errors.js';
import type { LoggedEvent } from '../../shared/events.js';
import type { LogBatch } from './batch.js';
import { parseEvent } from './entry.js';
import type { LogView } from './log-view.js';
import { asUnavailable } from './unavailable.js';

const PAGE = { events: 1000, bytes: 1 << 20 };

export interface RunEventSource {
  /** Canonical key of the session. */
  readonly sessionId: string;
  /** Place of the run's first event. */
  readonly place: Promise<number>;
  /** Resolves with the next batch that is committed, or without one if the log is no longer written here. */
  more(): Promise<LogBatch | undefined>;
  /** Whether the log is no longer held here. */
  over(): boolean;
}

/**
 * Reads the events of one run, from its beginning to its end.
 *
 * @throws GatewayError `CURSOR_GONE` if events were cut before they were read; `OVERLOADED` if the store can't be read
 * @throws DOMException `AbortError` if the log was lost or given up
 */
export async function* eventsOfRun(
  view: LogView,
  runId: string,
  { sessionId, place, more, over }: RunEventSource,
): AsyncGenerator<LoggedEvent, void> {
  let batch: LogBatch | undefined;
  let isEmpty = false;
  for (let after = (await place) - 1; ; ) {
    if (isEmpty || after >= view.head) {
      if (over()) throw new DOMException('The session was lost', 'AbortError');
      batch = await more();
      if (!batch) continue;
    }
    // The store is asked only for what was missed.
    const page =
      batch?.first === after + 1
        ? batch.events
        : await asUnavailable(() => view.read(after, PAGE.events, PAGE.bytes));
    const [next] = page;
    // A cut may be made while the page is read.
    if (next ? next.seq > after + 1 : after < view.first - 1) throw new GatewayError({ code: 'CURSOR_GONE' });
    for (const stored of page) {
      if (stored.runId !== runId) continue;
      yield { ...parseEvent(stored), sessionId, cursor: view.cursorAt(stored.seq) } as LoggedEvent;
      if (stored.type === 'message_end') return;
    }
    isEmpty = page.length === 0;
    after = page.at(-1)?.seq ?? after;
  }
}
