import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { parseEvent } from '../log/entry.js';
import type { LogView } from '../log/log-view.js';
import { asUnavailable } from '../log/unavailable.js';
import type { FormerRetraction } from '../runs/former-answer.js';

const PAGE = { events: 1000, bytes: 1 << 20 };

/**
 * The parts of its answer that a run has taken back, in their order. None if the log lacks the run's beginning.
 *
 * @param from Place just before the run's first event
 * @throws GatewayError `OVERLOADED` if the store can't be read
 */
export async function retractionsIn(log: LogView, runId: string, from: number): Promise<FormerRetraction[]> {
  const found: FormerRetraction[] = [];
  const { head, first } = log;
  if (from < first - 1) return found;
  let state: SessionState = initialState;
  for (let after = from; after < head; ) {
    const page = await asUnavailable(() => log.read(after, PAGE.events, PAGE.bytes));
    for (const stored of page) {
      after = stored.seq;
      if (stored.runId !== runId) continue;
      const event = parseEvent(stored) as GatewayEvent;
      const before = contentIn(state);
      state = reduce(state, event);
      if (event.type === 'message_replaced') found.push({ before, after: contentIn(state) });
    }
    if (page.length === 0) break;
  }
  return found;
}

const contentIn = ({ run, lanes = [] }: SessionState) => (run ?? lanes[0])?.message.content ?? [];
