import { randomUUID } from 'node:crypto';
import type { AgentInputItem, RunToolApprovalItem, StreamedRunResult } from '@openai/agents';
import type { Turn } from '../../apps/application.js';
import { parseJson } from './items.js';
import type { RunReader } from './reader.js';

type FunctionCall = Extract<AgentInputItem, { type: 'function_call' }>;
type Interrupted = StreamedRunResult<any, any>;

/** Asks the person about a call that needs approval, and has the run's state know the answer. */
export async function decide(
  stream: Interrupted,
  item: RunToolApprovalItem,
  { turn, reader }: { readonly turn: Turn; readonly reader: RunReader },
): Promise<void> {
  const raw = item.rawItem as { callId?: string; id?: string; name?: string; arguments?: string };
  const name = item.name ?? raw.name ?? item.rawItem.type ?? '';
  const callId = raw.callId ?? raw.id;
  const { approved, reason, input } = await turn.confirm({
    name,
    input: raw.arguments === undefined ? item.rawItem : parseJson(raw.arguments),
    ...(callId !== undefined && { callId }),
  });
  if (!approved)
    return stream.state.reject(item, { message: reason === undefined ? 'Denied' : `Denied: ${reason}` });
  if (input !== undefined) {
    const changed = change(stream, item, JSON.stringify(input));
    // What the person did not approve must not run.
    if (!changed) {
      const message = `Not called: approved with another input, ${JSON.stringify(input)}. Call it again with that.`;
      return stream.state.reject(item, { message });
    }
    reader.renamed(changed.from, changed.to);
  }
  stream.state.approve(item);
}

/**
 * Changes the input of a call in the run's own items: it is what the tool gets, and what the model reads it got. The SDK holds a call's
 * id to its input, so the changed call is another one.
 *
 * @returns undefined where the call is not this run's to change: that of an agent which is a tool of this one, or of a hosted tool
 */
function change(
  { newItems }: Interrupted,
  { rawItem, agent }: RunToolApprovalItem,
  input: string,
): { readonly from: string; readonly to: string } | undefined {
  if (rawItem.type !== 'function_call') return undefined;
  const from = rawItem.callId;
  const calls = newItems
    .filter((item) => 'agent' in item && item.agent === agent)
    .map((item) => item.rawItem as FunctionCall)
    .filter(({ type, callId }) => type === 'function_call' && callId === from);
  if (calls.length === 0) return undefined;
  // Some providers take ids of letters and digits only, and of their own length.
  const to = randomUUID().replaceAll('-', '').slice(0, Math.max(9, from.length));
  // Older versions of the SDK hand out the call itself, newer ones a copy.
  for (const call of new Set([rawItem, ...calls])) {
    call.callId = to;
    call.arguments = input;
  }
  return { from, to };
}
