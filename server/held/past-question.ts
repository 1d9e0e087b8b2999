import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isAnswer, isAsking } from '../../shared/segments.js';
import { parseEvent } from '../log/entry.js';
import type { Answer } from '../runs/questions.js';
import type { HeldSession } from './held-session.js';

/** Events among which a question is looked for: the last ones of the log. */
const LOOKED_AT = 1000;
const BYTES = 1 << 20;

/**
 * Passes an answer to its question.
 *
 * @throws GatewayError as `Questions.answer`; `ALREADY_ANSWERED` also for an answer that a former process took, and a question whose run was
 * lost is not just not found
 */
export async function respond(held: HeldSession, callId: string, answer: Answer): Promise<void> {
  try {
    await held.runs.questions.answer(callId, answer);
  } catch (error) {
    const isUnknown = isGatewayError(error) && error.code === 'CALL_NOT_FOUND';
    throw (isUnknown && (await endOf(held, callId))) || error;
  }
}

/** The reason why a question is open no more, as far as that can be told. */
async function endOf({ log, store, ref }: HeldSession, callId: string): Promise<GatewayError | null> {
  try {
    const { head } = log.view;
    const events = await log.view.read(Math.max(0, head - LOOKED_AT), LOOKED_AT, BYTES);
    const named = JSON.stringify({ callId }).slice(1, -1);
    const last = events
      .filter(({ body }) => body.includes(named))
      .map(parseEvent)
      .filter((event) => isAsking(event) || isAnswer(event))
      .findLast((event) => event.callId === callId);
    if (!last) return null;
    if (!isAsking(last)) return new GatewayError({ code: 'ALREADY_ANSWERED' });
    const run = last.runId === undefined ? null : await store.run(ref, { runId: last.runId });
    if (run?.result?.stopReason !== 'lost') return null;
    return new GatewayError({
      code: 'CALL_NOT_FOUND',
      message:
        'The run that asked was lost: its gateway ended, and its app is not resumable. Send the message again',
      details: { stopReason: 'lost' },
    });
  } catch {
    // The store cannot say now.
    return null;
  }
}
