import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import { channels } from './channels.js';
import { codeOf, Trace } from './trace.js';

/** The caller of a tool. */
interface ToolCallSource {
  readonly gatewayId: string;
  readonly session: { readonly id: string; readonly app: string; readonly epoch?: string | undefined };
  readonly user: UserContext | null;
  /** Settles when nobody waits for the call any more. */
  readonly over: Promise<unknown>;
}

interface TracedCall {
  readonly callId: string;
  readonly toolName: string;
  /** Absent if the call belongs to no run. */
  readonly runId?: string;
}

/** Traces a call of a tool until its result, or the end of its caller. */
export function traceTool<T>(caller: ToolCallSource, call: TracedCall, work: () => Promise<T>): Promise<T> {
  return channels.tool.hasSubscribers ? callTraced(caller, call, work) : work();
}

function callTraced<T>(caller: ToolCallSource, call: TracedCall, work: () => Promise<T>): Promise<T> {
  const { gatewayId, session, user, over } = caller;
  const { runId, callId, toolName: tool } = call;
  const trace = new Trace(channels.tool, {
    ...{
      gatewayId,
      sessionId: session.id,
      app: session.app,
      epoch: session.epoch,
      runId,
      callId,
      tool,
      user,
    },
  });
  const cutOff = (): void =>
    trace.fail(new GatewayError({ code: 'ABORTED', message: 'The run ended before the tool had answered' }));
  return trace.during(() => {
    const result = work();
    result.then(
      (value) => trace.done(value),
      (error: { readonly denied?: boolean; readonly cause?: unknown }) =>
        trace.fail(error, error.denied ? 'ACCESS_DENIED' : codeOf(error.cause)),
    );
    over.then(cutOff, cutOff);
    return result;
  });
}
