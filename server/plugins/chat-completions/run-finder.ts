import type { ContentBlock, MessageInput, ToolResultBlock } from '../../../shared/messages.js';
import { fieldError } from '../conversation/errors.js';
import { stateOf } from '../conversation/state.js';
import type { PluginSession } from '../plugin.js';

/** The results of tools at the end of a conversation, by call. Empty if it ends with another message. */
export function lastResults(messages: readonly MessageInput[]): ReadonlyMap<string, unknown> {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return new Map();
  const results = (last.content as readonly ContentBlock[]).filter(
    (block): block is ToolResultBlock => block.type === 'tool_result',
  );
  return new Map(results.map(({ callId, output }) => [callId, output]));
}

/** @throws GatewayError `INVALID_REQUEST` naming the calls without a result */
export function checkComplete(waitingFor: Iterable<string>, results: ReadonlyMap<string, unknown>): void {
  const missing = [...waitingFor].filter((callId) => !results.has(callId));
  if (missing.length === 0) return;
  const message = `each tool call needs a tool message; missing: ${missing.join(', ')}`;
  throw fieldError('messages', message, 'invalid_value');
}

/** A run of a lasting session that waits for some of the results, although no gateway remembers it. */
export interface FoundRun {
  readonly runId: string;
  readonly cursor: string;
  /** The calls that wait for this caller. */
  readonly waitingFor: readonly string[];
}

/**
 * Searches a session for a run that waits for results, after its gateway was restarted or forgot it.
 *
 * @param tools Names of the caller's tools
 */
export async function findWaitingRun(
  session: PluginSession,
  results: ReadonlyMap<string, unknown>,
  tools: ReadonlySet<string>,
): Promise<FoundRun | null> {
  const state = await stateOf(session);
  const { run, cursor, pending } = state ?? {};
  if (!run || !cursor) return null;
  const asked = (pending ?? []).filter(({ kind, runId }) => kind === 'input' && runId === run.runId);
  if (!asked.some(({ callId }) => results.has(callId))) return null;
  const waitingFor = asked
    .filter(({ callId, name }) => results.has(callId) || tools.has(name))
    .map(({ callId }) => callId);
  return { runId: run.runId, cursor, waitingFor };
}
