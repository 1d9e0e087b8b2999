import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { ActiveRun, SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { rootContext } from '../async-context.js';
import { isPromise } from '../maybe-promise.js';
import { type Ending, Execution, type ExecutionHost, endDrafts } from '../runs/execution.js';
import { type Answer, Questions } from '../runs/questions.js';
import { InheritedQuestion, Resumption } from '../runs/resumption.js';
import { Run, type RunRequest } from '../runs/run.js';
import type { StoredSend } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import type { SessionLog } from './log.js';
import { outcomeOf } from './outcome.js';
import { RunQueue } from './run-queue.js';
import { type OpenRuns, toOpenRun } from './run-record.js';
import type { Session } from './session.js';
import { unavailable } from './unavailable.js';

/** A message that was accepted. */
export interface AcceptedRun {
  readonly run: Run;
  readonly position: number;
}

/** The runs of one session: accepts messages, lets one run at a time, and logs exactly one end for each. */
export class SessionRuns {
  readonly queue: RunQueue;
  readonly questions = new Questions();
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  #execution: Execution | null = null;
  #held = false;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
    this.queue = new RunQueue(env.queueLength);
  }

  get active(): Run | null {
    return this.queue.active;
  }

  get busy(): boolean {
    return this.queue.busy;
  }

  /**
   * Accepts a message as a new run.
   *
   * @throws GatewayError `SESSION_BUSY`, `QUEUE_FULL`, `SESSION_CLOSED`, `OVERLOADED` when the store can't take it.
   */
  async accept(request: RunRequest, hash: string): Promise<AcceptedRun | { readonly duplicate: StoredSend }> {
    const { user, onBusy, key } = request;
    const opened = this.#session.open({ userId: user?.id });
    const log = (isPromise(opened) ? await opened : opened)!;
    // A close may have begun while the store was asked.
    if (this.#session.closing) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
    this.queue.check(onBusy);
    const run = new Run(request);
    let position = this.queue.add(run);
    if (onBusy === 'interrupt' && this.queue.active) {
      // Ended with the new run already in its place, or the first in the queue would start instead.
      this.end(this.queue.active, { stopReason: 'superseded' });
      position = 0;
    }
    try {
      const { message, preceding, metadata } = request;
      const committed = await log.commit(
        [
          {
            type: 'message_accepted',
            runId: run.id,
            ts: Date.now(),
            message,
            ...(preceding.length > 0 && { preceding }),
            ...(key !== undefined && { key }),
            onBusy,
            position,
            ...(Object.keys(metadata).length > 0 && { metadata }),
          },
        ],
        {
          opens: toOpenRun(request),
          refusable: true,
          ...(key !== undefined && { dedupe: { key, hash, runId: run.id } }),
        },
      );
      if (committed.duplicate) {
        this.#withdraw(run);
        return { duplicate: committed.duplicate };
      }
      run.acceptedAfter = committed.first - 1;
    } catch (error) {
      this.#withdraw(run);
      throw unavailable(error);
    }
    if (run.state === 'accepting') run.state = 'queued';
    this.#advance();
    return { run, position };
  }

  #withdraw(run: Run): void {
    this.queue.remove(run);
    run.state = 'ended';
    this.#advance();
  }

  #advance(): void {
    const { log } = this.#session;
    if (this.#session.closing || this.#held || !log) return;
    const run = this.queue.advance();
    if (run) run.context(() => void this.#start(run, log));
  }

  async #start(run: Run, log: SessionLog): Promise<void> {
    const host = this.#host(log);
    const execution = new Execution(run, host);
    this.#execution = execution;
    run.startAfter = run.acceptedAfter;
    const { message, onBusy } = run.request;
    const base = { runId: run.id, ts: Date.now() };
    try {
      const committed = await log.commit([
        ...(onBusy === 'steer'
          ? [{ type: 'steer', ...base, messageId: message.id, consumed: false } as const]
          : []),
        { type: 'message_start', ...base, messageId: run.messageId, app: this.#session.ref.app },
      ]);
      // A viewer of a run that had to wait starts where it began, not where it was accepted.
      if (committed.first !== run.acceptedAfter + 2) run.startAfter = committed.first - 1;
    } catch {
      return;
    }
    if (run.state === 'active') this.#run(run, execution, log.state);
  }

  #run(run: Run, execution: Execution, { messages }: SessionState): void {
    this.#env.notify({
      type: 'run:started',
      sessionId: this.#session.id,
      runId: run.id,
      user: run.request.user,
    });
    const at = messages.findLastIndex((other) => other.id === run.request.message.id);
    execution.start(at < 0 ? messages : messages.slice(0, at));
  }

  #host(log: SessionLog): ExecutionHost {
    const { runMs, waitMs, answerSize } = this.#env;
    return {
      session: { id: this.#session.id, app: this.#session.ref.app, epoch: log.ref.epoch },
      app: this.#env.app(this.#session.ref.app),
      log,
      questions: this.questions,
      runMs,
      waitMs,
      answerSize,
      takeSteered: (run) => this.#takeSteered(run),
      publish: (channel, payload, type, runId) => this.#session.publish(channel, type, payload, runId),
      emitCustom: (name, payload, runId) => this.#session.emitCustom(name, payload, runId),
      end: (run, ending) => this.end(run, ending),
      report: (error, what) => this.#env.report(error, `session ${this.#session.id}: ${what}`),
    };
  }

  #takeSteered(into: Run): readonly Message[] {
    const taken: Message[] = [];
    for (const run of this.queue.steering()) {
      const { message, preceding } = run.request;
      this.#session.log?.append({
        type: 'steer',
        runId: run.id,
        ts: Date.now(),
        messageId: message.id,
        consumed: true,
      });
      this.end(run, { stopReason: 'steered', intoRunId: into.id });
      taken.push(...preceding, message);
    }
    return taken;
  }

  /** Ends a run, whatever it is doing, and frees the session at once. False when it had ended. */
  end(run: Run, ending: Ending): boolean {
    if (run.state === 'ended') return false;
    const active = this.queue.active === run;
    run.state = 'ended';
    this.queue.remove(run);
    const drafts =
      (active ? this.#execution?.stop(ending) : undefined) ??
      (() => endDrafts(run, ending, run.emptyAnswer(), null));
    if (active) this.#execution = null;
    void this.#logEnd(run, drafts);
    this.#advance();
    return true;
  }

  async #logEnd(run: Run, drafts: ReturnType<Execution['stop']>): Promise<void> {
    const { log } = this.#session;
    if (!log) return;
    let result: Omit<RunResult, 'cursor'> = { runId: run.id, message: run.emptyAnswer(), stopReason: 'lost' };
    try {
      const committed = await log.commit(
        (state) => {
          const events = drafts(state);
          result = outcomeOf(events);
          return events;
        },
        { ends: run.id, settleKey: run.request.key },
      );
      run.resolve({ ...result, cursor: formatCursor(log.ref.epoch, log.term, committed.last) });
    } catch {
      run.resolve({ ...result, stopReason: 'lost', cursor: log.cursor });
    }
    this.#env.notify({
      type: 'run:ended',
      sessionId: this.#session.id,
      runId: run.id,
      stopReason: result.stopReason,
    });
  }

  /** Ends a run by id, or the active one. False when there is nothing to end. */
  abort(runId?: string, reason?: string): boolean {
    const run = runId === undefined ? this.queue.active : this.queue.find(runId);
    return run ? this.end(run, { stopReason: 'aborted', reason }) : false;
  }

  respond(callId: string, answer: Answer): Promise<void> {
    return this.questions.answer(callId, answer);
  }

  endAll(ending: Ending): void {
    for (const run of [...this.queue.all()].reverse()) this.end(run, ending);
  }

  /** Takes up what another process left: goes on with its run or ends it as `lost`, and starts what it had accepted. */
  recover(log: SessionLog, open: OpenRuns): void {
    const { run: left, queue } = log.state;
    if (left && !this.#resume(left, log, open)) this.#endLeft(left, log, open);
    for (const queued of queue) {
      const run = new Run(open.request(queued), { context: rootContext });
      run.state = 'queued';
      this.queue.restore(run);
    }
    this.#advance();
  }

  #resume({ runId, message: answer }: ActiveRun, log: SessionLog, open: OpenRuns): boolean {
    const { messages, pending } = log.state;
    const kept = open.get(runId);
    const message = kept && messages.findLast((other) => other.id === kept.messageId);
    if (!message || !this.#env.app(this.#session.ref.app).resumable) return false;
    const run = new Run(open.request({ runId, message, onBusy: 'queue' }), {
      resumed: answer,
      context: rootContext,
    });
    run.state = 'active';
    run.startAfter = log.lastStart ?? log.first - 1;
    this.queue.active = run;
    const execution = new Execution(run, this.#host(log));
    this.#execution = execution;
    const asked = pending.filter((question) => question.runId === runId);
    for (const question of asked) this.questions.add(new InheritedQuestion(runId, question));
    execution.resumption = new Resumption(answer, asked);
    // Whoever opens the session is not to wait for the app.
    setImmediate(() => {
      if (run.state === 'active') run.context(() => this.#run(run, execution, log.state));
    });
    return true;
  }

  #endLeft({ runId, message }: ActiveRun, log: SessionLog, open: OpenRuns): void {
    const end = { type: 'message_end', runId, ts: Date.now(), stopReason: 'lost', message } as const;
    log.commit([end], { ends: runId, settleKey: open.get(runId)?.key }).then(
      () => this.#env.notify({ type: 'run:ended', sessionId: this.#session.id, runId, stopReason: 'lost' }),
      (error: unknown) => this.#env.report(error, `ending lost run ${runId}`),
    );
  }

  /** Starts nothing more: what is queued stays in the store for the next process. */
  hold(): void {
    this.#held = true;
  }

  /** Lets go, without an end, of what the next process takes up from the store. */
  handOver(): void {
    const { resumable } = this.#env.app(this.#session.ref.app);
    for (const run of this.queue.all()) {
      if (run === this.active && !resumable) continue;
      run.state = 'ended';
      if (run === this.active) this.#execution?.stop({ stopReason: 'lost' });
      this.queue.remove(run);
    }
  }

  /** The log was lost: stops everything without logging it. */
  lose(cursor: string): void {
    for (const run of this.queue.all()) {
      run.state = 'ended';
      if (this.active === run) this.#execution?.stop({ stopReason: 'lost' });
      this.queue.remove(run);
      run.resolve({ runId: run.id, message: run.emptyAnswer(), stopReason: 'lost', cursor });
    }
    this.#execution = null;
  }
}
