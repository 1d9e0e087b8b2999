import { fieldError } from '../../../shared/errors.js';
import { regenerate } from '../../held/acceptance.js';
import type { HeldSession } from '../../held/held-session.js';
import { newCallId, newRunId } from '../../ids.js';
import type { LiveRun } from '../../runs/live-run.js';

/** Name of the question whether a run begins anew. */
export const ANEW = 'begin_anew';
const WORDS =
  'The assistant was changed while this answer was being written, and cannot go on with it. Begin it anew?';

/** Ends a run with which no version goes on. */
export async function endAsLost({ runs }: HeldSession, run: LiveRun): Promise<false> {
  await runs.end(run, { stopReason: 'lost', reason: 'its app has changed' });
  return false;
}

/** Ends a run, and has its message answered anew. */
export async function beginAnew(held: HeldSession, run: LiveRun): Promise<false> {
  const { message, preceding: _, lane, key: __, hash: ___, repeatable: ____, ...request } = run.request;
  // A run beside the conversation has no message in it that could be answered again.
  if (lane) return endAsLost(held, run);
  await regenerate(
    held,
    { ...request, key: undefined, runId: newRunId() },
    { messageId: message.id, by: 'gateway' },
  );
  return false;
}

/** Asks a person whether a run begins anew, or ends. */
export async function askWhetherAnew(held: HeldSession, run: LiveRun): Promise<false> {
  const { log, runs } = held;
  const asked = log.state.pending.find(({ runId, name }) => runId === run.id && name === ANEW);
  const callId = asked?.callId ?? newCallId();
  if (!asked)
    await log.commit([
      {
        ...{ type: 'tool_confirmation_required', runId: run.id, ts: Date.now() },
        ...{ callId, name: ANEW, input: null, message: WORDS },
      },
    ]);
  runs.questions.add({
    ...{ callId, runId: run.id },
    accept: async ({ approved, reason, by }) => {
      if (typeof approved !== 'boolean')
        throw fieldError('approved', 'must be true or false for a confirmation');
      await log.commit(
        [
          {
            ...{
              type: 'tool_confirmation_result',
              runId: run.id,
              ts: Date.now(),
              callId,
              name: ANEW,
              approved,
            },
            ...(reason !== undefined && { reason }),
            by,
          },
        ],
        { refusable: true },
      );
      await (approved ? beginAnew(held, run) : endAsLost(held, run));
      return true;
    },
    drop: () => {},
  });
  return false;
}
