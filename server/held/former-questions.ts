import type { LoggedEvent } from '../../shared/events.js';
import { parseEvent } from '../log/entry.js';
import type { LogView } from '../log/log-view.js';
import { asUnavailable } from '../log/unavailable.js';
import type { FormerEvents, FormerQuestion, FormerUse } from '../runs/resumption.js';
import { retractionsIn } from './former-retractions.js';

const PAGE = { events: 1000, bytes: 1 << 20 };

/** Types of the events that ask a person, that have the answer, and that tell what was used. */
const ASKED_AGAIN: ReadonlySet<string> = new Set([
  'tool_confirmation_required',
  'tool_confirmation_result',
  'input_required',
  'input_result',
  'usage_added',
]);

/**
 * The questions of a run that were answered, in the order of the answers, what it has used, and what it has taken back, as far as the log still has them.
 *
 * @param from Place just before the run's first event
 * @throws GatewayError `OVERLOADED` if the store can't be read
 */
export async function formerEventsIn(
  log: LogView,
  runId: string,
  from: number,
): Promise<Required<FormerEvents>> {
  const asked = new Map<string, Omit<FormerQuestion, 'answer'>>();
  const answered: FormerQuestion[] = [];
  const used: FormerUse[] = [];
  const { head } = log;
  let isTakenBack = false;
  for (let after = Math.max(from, log.first - 1); after < head; ) {
    const page = await asUnavailable(() => log.read(after, PAGE.events, PAGE.bytes));
    for (const stored of page) {
      if (stored.runId === runId && stored.type === 'message_replaced') isTakenBack = true;
      if (stored.runId !== runId || !ASKED_AGAIN.has(stored.type)) continue;
      const event = parseEvent(stored) as LoggedEvent;
      if (event.type === 'usage_added') used.push(event);
      else if (event.type === 'tool_confirmation_required' || event.type === 'input_required') {
        const { callId, name } = event;
        const input = event.type === 'input_required' ? event.payload : event.input;
        asked.set(callId, {
          kind: event.type === 'input_required' ? 'input' : 'confirmation',
          callId,
          name,
          input,
        });
      } else if (event.type === 'tool_confirmation_result' || event.type === 'input_result') {
        const question = asked.get(event.callId);
        if (question) answered.push({ ...question, answer: event });
      }
    }
    if (page.length === 0) break;
    after = page.at(-1)!.seq;
  }
  const taken = isTakenBack ? await retractionsIn(log, runId, from) : [];
  return { answered, used, taken };
}
