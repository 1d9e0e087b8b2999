import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { Answer } from '../runs/questions.js';
import type { HeldSession } from './held-session.js';

/** Events among which the question is looked for: the last ones of the log. */
const LOOKED_AT = 1000;
const BYTES = 1 << 20;

/**
 * Passes an answer to its question.
 *
 * @throws GatewayError as `Questions.answer`; a question whose run was lost is not just not found
 */
export async function respond(held: HeldSession, callId: string, answer: Answer): Promise<void> {
  try {
    await held.runs.questions.answer(callId, answer);
  } catch (error) {
    if (isGatewayError(error) && error.code === 'CALL_NOT_FOUND' && (await isLost(held, callId)))
      throw new GatewayError({
        code: 'CALL_NOT_FOUND',
        message:
          'The run that asked was lost: its gateway ended, and its app is not resumable. Send the message again',
        details: { stopReason: 'lost' },
      });
    throw error;
  }
}

/** Whether the run that asked has ended as `lost`, as far as that can be told. */
async function isLost({ log, store, ref }: HeldSession, callId: string): Promise<boolean> {
  try {
    const { head } = log.view;
    const events = await log.view.read(Math.max(0, head - LOOKED_AT), LOOKED_AT, BYTES);
    const asked = JSON.stringify({ callId }).slice(1, -1);
    const runId = events.find(
      ({ type, body }) =>
        (type === 'tool_confirmation_required' || type === 'input_required') && body.includes(asked),
    )?.runId;
    return runId !== undefined && (await store.run(ref, { runId }))?.result?.stopReason === 'lost';
  } catch {
    // The store cannot say now.
    return false;
  }
}
