import { randomUUID } from 'node:crypto';
import type { AgentInputItem, RunToolApprovalItem, StreamedRunResult } from '@openai/agents';
import { cut } from '../../../shared/cut.js';
import type { Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { parseJson } from './items.js';
import type { RunReader } from './reader.js';

type ApprovableCall = Extract<AgentInputItem, { type: 'function_call' }>;
/** A run that waits for approvals: as it was streamed, or as its state was kept. */
export type Interrupted = Pick<StreamedRunResult<any, any>, 'state' | 'newItems' | 'interruptions'>;

/** Asks the person about a call that needs approval, and puts the answer into the run's state. Resolves with whether the call will be made. */
export async function decide(
  stream: Interrupted,
  item: RunToolApprovalItem,
  { turn, reader }: { readonly turn: Turn; readonly reader: RunReader },
): Promise<boolean> {
  const raw = item.rawItem as { callId?: string; id?: string; name?: string; arguments?: string };
  const name = item.name ?? raw.name ?? item.rawItem.type ?? '';
  const callId = raw.callId ?? raw.id;
  const { approved, reason, input } = await turn.confirm({
    name,
    input: raw.arguments === undefined ? item.rawItem : parseJson(raw.arguments),
    ...(callId !== undefined && { callId: fittingId(callId) }),
  });
  if (!approved) {
    stream.state.reject(item, { message: reason === undefined ? 'Denied' : `Denied: ${reason}` });
    return false;
  }
  if (input !== undefined) {
    const changed = change(stream, item, JSON.stringify(input));
    // An input that the person did not approve must not run.
    if (!changed) {
      const message = `Not called: approved with another input, ${JSON.stringify(input)}. Call it again with that.`;
      stream.state.reject(item, { message });
      return false;
    }
    reader.renamed(changed.from, changed.to);
  }
  stream.state.approve(item);
  return true;
}

/**
 * Changes the input of a call in the run's own items, for the tool as well as for the model. The SDK ties a call's id to its input, so the
 * changed call gets a new id.
 *
 * @returns undefined if the call can't be changed here, because a hosted tool or an agent used as a tool makes it
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
    .map((item) => item.rawItem as ApprovableCall)
    .filter(({ type, callId }) => type === 'function_call' && callId === from);
  if (calls.length === 0) return undefined;
  // Some providers accept only letters and digits, and a certain length.
  const to = cut(randomUUID().replaceAll('-', ''), Math.max(9, from.length));
  // Older versions of the SDK return the call itself, newer ones a copy.
  for (const call of new Set([rawItem, ...calls])) {
    call.callId = to;
    call.arguments = input;
  }
  return { from, to };
}
