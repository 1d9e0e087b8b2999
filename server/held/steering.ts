import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { LogWriter } from '../log/log-writer.js';
import { asUnavailable } from '../log/unavailable.js';
import { isOpen, laneOf } from '../runs/ending.js';
import type { LiveRun } from '../runs/live-run.js';
import type { HeldSession } from './held-session.js';

/** Logs a message for a run beside the conversation. @throws GatewayError `RUN_NOT_FOUND` */
export async function steer({ log }: HeldSession, runId: string, message: Message): Promise<void> {
  const drafts = (state: SessionState): readonly EventDraft[] => {
    const lane = laneOf(state, runId);
    // Sent again, because its first answer was lost.
    if (lane?.steering?.some(({ id }) => id === message.id)) return [];
    if (!lane || !isOpen(state, runId)) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    return [{ type: 'run_steered', runId, ts: Date.now(), message }];
  };
  await asUnavailable(() => log.commit(drafts, { refusable: true }));
}

/** A function that takes the messages for a run beside the conversation, each once. */
export function steeringOf({ id: runId }: LiveRun, log: LogWriter): () => readonly Message[] {
  // The log says what was taken once that is stored.
  const known = new Set<string>();
  return () => {
    const { steering = [] } = laneOf(log.state, runId) ?? {};
    const fresh = steering.filter(({ id, taken }) => !taken && !known.has(id));
    for (const { id: messageId } of fresh) {
      known.add(messageId);
      log.append({ type: 'steer', runId, ts: Date.now(), messageId, consumed: true });
    }
    return fresh;
  };
}
