import type { UserContext } from '../../shared/contract.js';
import { formatCursor } from '../../shared/cursor.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { QueuedMessage } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { isPromise } from '../maybe-promise.js';
import { type Ending, endDrafts, Execution, type ExecutionHost } from '../runs/execution.js';
import { type Answer, Questions } from '../runs/questions.js';
import { Run, type RunRequest } from '../runs/run.js';
import type { StoredSend } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import type { SessionLog } from './log.js';
import { outcomeOf } from './outcome.js';
import { RunQueue } from './run-queue.js';
import type { Session } from './session.js';

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
        key === undefined ? {} : { dedupe: { key, hash, runId: run.id } },
      );
      if (committed.duplicate) {
        this.#withdraw(run);
        return { duplicate: committed.duplicate };
      }
      run.acceptedAfter = committed.first - 1;
    } catch (error) {
      this.#withdraw(run);
      if (isGatewayError(error)) throw error;
      throw new GatewayError({
        code: 'OVERLOADED',
        message: 'The message could not be stored',
        retryAfterMs: 1000,
        cause: error,
      });
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
    if (this.#session.closing || !log) return;
    const run = this.queue.advance();
    if (run) void this.#start(run, log);
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
    if (run.state !== 'active') return;
    this.#env.notify({ type: 'run:started', sessionId: this.#session.id, runId: run.id, user: run.request.user });
    const { messages } = log.state;
    const at = messages.findLastIndex((other) => other.id === message.id);
    execution.start(at < 0 ? messages : messages.slice(0, at));
  }

  #host(log: SessionLog): ExecutionHost {
    const { runMs, waitMs } = this.#env;
    return {
      session: { id: this.#session.id, app: this.#session.ref.app },
      app: this.#env.app(this.#session.ref.app),
      log,
      questions: this.questions,
      runMs,
      waitMs,
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
        run.request.key === undefined ? {} : { settleKey: run.request.key },
      );
      run.resolve({ ...result, cursor: formatCursor(log.ref.epoch, log.term, committed.last) });
    } catch {
      run.resolve({ ...result, stopReason: 'lost', cursor: log.cursor });
    }
    this.#env.notify({ type: 'run:ended', sessionId: this.#session.id, runId: run.id, stopReason: result.stopReason });
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

  /** Takes up what another writer had accepted. */
  recover(queue: readonly QueuedMessage[], userId: string | undefined): void {
    const user = userId === undefined ? null : ({ id: userId } as UserContext);
    for (const { runId, message, preceding = [], onBusy } of queue) {
      const empty = { metadata: {}, clientTools: [], parameters: {} };
      const run = new Run({ runId, message, preceding, onBusy, key: undefined, user, ...empty });
      run.state = 'queued';
      this.queue.add(run);
    }
    this.#advance();
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
