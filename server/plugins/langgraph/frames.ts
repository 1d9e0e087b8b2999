import type { Message } from '../../../shared/messages.js';

/** An event of the protocol, before its stream gives it a place. */
export interface Frame {
  readonly method: Method;
  readonly data: Readonly<Record<string, unknown>>;
  /** The client's run, of which this is a beginning or an end. */
  readonly runId?: string;
}

/** What frames are about; a client asks for some of these. */
export type Method =
  | 'lifecycle'
  | 'values'
  | 'checkpoints'
  | 'messages'
  | 'tools'
  | 'input.requested'
  | 'input.answered'
  | 'custom';

/** The run as clients know it: behind each answer to a question it is another one of theirs. */
export function segmentId(runId: string, segment: number): string {
  return segment === 0 ? runId : `${runId}~${segment}`;
}

/** Our run of a client's; one without a name where it is no id of a run. */
export function runOf(id: string): { readonly runId: string; readonly segment: number } {
  const match = /^([\w-]+)(?:~(\d{1,6}))?$/.exec(id);
  return { runId: match?.[1] ?? '', segment: Number(match?.[2] ?? 0) };
}

/** A beginning or an end of a client's run. */
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

/** A block as it is in the end. */
export function blockFinish(index: number, content: object): Frame {
  return { method: 'messages', data: { event: 'content-block-finish', index, content } };
}

const FAILED = {
  error: 'The app failed',
  timeout: 'The answer took too long',
  lost: 'The answer was cut off: its server went away',
} as const;

/** The end of a client's run that is not a question. */
export function ending(
  runId: string,
  { stopReason = 'end', app = '', error }: Partial<Pick<Message, 'stopReason' | 'app' | 'error'>>,
): Frame {
  if (stopReason === 'error' || stopReason === 'timeout' || stopReason === 'lost')
    return lifecycle('failed', runId, app, error?.message ?? FAILED[stopReason]);
  const isStopped = stopReason === 'aborted' || stopReason === 'superseded';
  return lifecycle(isStopped ? 'interrupted' : 'completed', runId, app);
}
