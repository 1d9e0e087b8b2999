import { AskedCalls } from '../../shared/asked-calls.js';
import type { PluginSession } from './plugin.js';
import { reading } from './reading.js';

/**
 * Reads what a run has asked so far.
 *
 * @param asked What takes it
 * @throws GatewayError `CURSOR_GONE` where that is not kept any more
 */
export function askedIn(
  session: PluginSession,
  { runId, cursor }: { readonly runId: string; readonly cursor: string },
  asked = new AskedCalls(runId),
): Promise<AskedCalls> {
  return session.stream(reading(asked), { from: cursor }).over;
}
