import { AskedCalls, type CallAnswer, toResponse } from '../../../shared/asked-calls.js';
import type { PluginSession } from '../plugin.js';
import { codeOf } from './errors.js';
import { reading } from './reading.js';

/**
 * Reads the questions that a run has asked so far.
 *
 * @param asked Collects the questions
 * @throws GatewayError `CURSOR_GONE` if its events are no longer kept
 */
export function askedIn(
  session: PluginSession,
  { runId, cursor }: { readonly runId: string; readonly cursor: string },
  asked = new AskedCalls(runId),
): Promise<AskedCalls> {
  return session.stream(reading(asked), { from: cursor }).over;
}

/** Hands an answer over. If another client was first, or the run has ended, the run's events tell it. */
export async function handOver(session: PluginSession, callId: string, answer: CallAnswer): Promise<void> {
  try {
    await session.respond(callId, toResponse(answer));
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
  }
}
