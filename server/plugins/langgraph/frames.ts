import { composeId, partsOfId } from '../../../shared/composed-id.js';
import type { Message } from '../../../shared/messages.js';
import { failureOf } from '../../../shared/run-failure.js';

/** An event of the protocol, before its stream gives it a place. */
export interface Frame {
  readonly method: FrameChannel;
  readonly data: Readonly<Record<string, unknown>>;
  /** The client's run, if this is its beginning or end. */
  readonly runId?: string;
}

/** The channels of frames, some of which a client asks for. */
export type FrameChannel =
  | 'lifecycle'
  | 'values'
  | 'checkpoints'
  | 'messages'
  | 'tools'
  | 'input.requested'
  | 'input.answered'
  | 'custom';

/** The client's id of a run. Each answer to a question begins another run of the client. */
export function segmentId(runId: string, segment: number): string {
  return segment === 0 ? runId : composeId(runId, segment);
}

/** Our run for a client's run id; an empty one if it is no such id. */
export function runOf(id: string): { readonly runId: string; readonly segment: number } {
  const [runId = '', segment = '0', ...more] = partsOfId(id) ?? [];
  const isOne = /^[\w-]+$/.test(runId) && /^\d{1,6}$/.test(segment) && more.length === 0;
  return isOne ? { runId, segment: Number(segment) } : { runId: '', segment: 0 };
}

/** The beginning or the end of a client's run. */
export function lifecycle(event: string, runId: string, graph: string, error?: string): Frame {
  const failed = error !== undefined && { error };
  return { method: 'lifecycle', data: { event, ...(graph && { graph_name: graph }), ...failed }, runId };
}

/** A block of a message begins. */
export function blockStart(index: number, content: object): Frame {
  return { method: 'messages', data: { event: 'content-block-start', index, content } };
}

/** A block grows. */
export function blockDelta(index: number, type: 'text' | 'reasoning', delta: string): Frame {
  const said =
    type === 'text' ? { type: 'text-delta', text: delta } : { type: 'reasoning-delta', reasoning: delta };
  return { method: 'messages', data: { event: 'content-block-delta', index, delta: said } };
}

/** The final form of a block. */
export function blockFinish(index: number, content: object): Frame {
  return { method: 'messages', data: { event: 'content-block-finish', index, content } };
}

/** The end of a client's run, other than by a question. */
export function ending(
  runId: string,
  { stopReason = 'end', app = '', error }: Partial<Pick<Message, 'stopReason' | 'app' | 'error'>>,
): Frame {
  const failed = failureOf(stopReason, error);
  if (failed) return lifecycle('failed', runId, app, failed.message);
  const isStopped = stopReason === 'aborted' || stopReason === 'superseded';
  return lifecycle(isStopped ? 'interrupted' : 'completed', runId, app);
}
