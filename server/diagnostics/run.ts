import type { UserContext } from '../../shared/contract.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { Variants } from '../../shared/variants/contract.js';
import { type Context, presentContext } from '../async/async-context.js';
import { channels } from './channels.js';
import type { RunMessage, TraceOrigin } from './messages.js';
import { Trace } from './trace.js';

/** The session and gateway of a run. */
interface RunSource {
  readonly gatewayId: string;
  readonly session: { readonly id: string; readonly app: string; readonly epoch?: string | undefined };
}

/** The fields of a run that are reported. */
interface TracedRun {
  readonly id: string;
  readonly request: {
    readonly user: UserContext | null;
    readonly trace?: TraceOrigin | undefined;
    readonly requestId?: string | undefined;
    readonly lane?: { readonly app: string; readonly parentRunId?: string } | undefined;
  };
  readonly resumed?: unknown;
  readonly acceptedAt: number;
  readonly startedAt: number | null;
}

/** Starts the run, in the place of its session. */
interface RunDriver extends RunSource {
  start(history: () => readonly Message[]): void;
}

/** A run that starts. */
interface StartingRun extends TracedRun {
  readonly ended: Promise<RunResult>;
  readonly failure: { readonly error: unknown } | null;
  readonly firstDeltaAt: number | null;
  readonly variants: Variants;
  context: Context;
}

/** Starts a run, and traces it until its end is stored. */
export function traceRun(run: StartingRun, driver: RunDriver, history: () => readonly Message[]): void {
  if (channels.run.hasSubscribers) startTraced(run, driver, history);
  else driver.start(history);
}

function startTraced(run: StartingRun, driver: RunDriver, history: () => readonly Message[]): void {
  const { startedAt } = run;
  const message = messageOf(run, driver);
  const trace = new Trace(channels.run, message);
  const over = (): void => {
    if (run.firstDeltaAt !== null) message.firstDeltaMs = run.firstDeltaAt - startedAt!;
    if (Object.keys(run.variants).length > 0) message.variants = run.variants;
  };
  trace.during(() => {
    // Later calls into the app, such as an abort or an answer, belong to its trace too.
    run.context = presentContext();
    driver.start(history);
    run.ended.then(
      (result) => {
        over();
        if (!run.failure) return trace.done(result);
        message.result = result;
        trace.fail(run.failure.error);
      },
      (error: unknown) => {
        over();
        trace.fail(error);
      },
    );
  }, startedAt!);
}

/** Reports a run that ended without having been started here. */
export function traceUnstarted(run: TracedRun, place: RunSource, result: RunResult): void {
  if (channels.run.hasSubscribers) tellUnstarted(run, place, result);
}

function tellUnstarted(run: TracedRun, place: RunSource, result: RunResult): void {
  const trace = new Trace(channels.run, messageOf(run, place));
  trace.during(() => trace.done(result));
}

function messageOf(
  { id, request, resumed, acceptedAt, startedAt }: TracedRun,
  { gatewayId, session }: RunSource,
): RunMessage {
  const { user, trace, requestId, lane } = request;
  const { app = session.app, parentRunId } = lane ?? {};
  return {
    gatewayId,
    sessionId: session.id,
    app,
    epoch: session.epoch,
    runId: id,
    ...(parentRunId !== undefined && { parentRunId }),
    user,
    trace,
    requestId,
    started: startedAt !== null,
    resumed: Boolean(resumed),
    queuedMs: (startedAt ?? performance.now()) - acceptedAt,
  };
}
