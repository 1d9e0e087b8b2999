import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { TurnSession } from '../apps/application.js';
import { isPromise } from '../async/maybe-promise.js';
import type { LogFacts } from '../diagnostics/log-facts.js';
import { GATEWAY } from '../diagnostics/model-call.js';
import { traceRun, traceUnstarted } from '../diagnostics/run.js';
import type { Committed } from '../log/append-group.js';
import type { LogWriter } from '../log/log-writer.js';
import { shownBefore } from '../log/message-tree.js';
import { outcomesOf } from '../log/outcome.js';
import { unavailable } from '../log/unavailable.js';
import { type Ending, endDrafts } from '../runs/ending.js';
import { Execution } from '../runs/execution.js';
import type { LiveRun } from '../runs/live-run.js';
import { type Answer, Questions } from '../runs/questions.js';
import type { RunPort } from '../runs/run-port.js';
import { storeTime } from '../stores/skew.js';
import { StoreError } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { type CausedEnding, endRuns, isOpen } from './run-endings.js';
import { RunQueue } from './run-queue.js';
import type { Session } from './session.js';
import { vote } from './session-approvals.js';
import { waking } from './waking.js';

/** The fate of a run's end: stored, void because something else ended the run before, or refused by the store. */
type EndOutcome = 'stored' | 'over' | 'failed';

/** The runs of one session: one at a time, each with exactly one logged end. `acceptance.ts` accepts them; `recovery.ts` takes them up. */
export class SessionRuns {
  readonly queue: RunQueue;
  readonly questions = new Questions();
  readonly session: Session;
  readonly env: SessionEnvironment;
  /** Whether nothing more is started here. */
  held = false;
  #execution: Execution | null = null;

  constructor(session: Session, env: SessionEnvironment) {
    this.session = session;
    this.env = env;
    this.queue = new RunQueue(env.queueLength);
  }

  get active(): LiveRun | null {
    return this.queue.active;
  }

  get busy(): boolean {
    return this.queue.busy;
  }

  /**
   * Ends every accepted run and the session in one append. With `erase`, the same append drops everything that is kept.
   *
   * @throws GatewayError `OVERLOADED`: nothing has ended
   */
  async close(
    log: LogWriter,
    { reason, erase }: { readonly reason: string; readonly erase: string | undefined },
    acknowledged: () => void,
  ): Promise<void> {
    const closed: EventDraft = { type: 'session_closed', ts: Date.now(), reason };
    await this.endWith(log, [...this.queue.all()].reverse(), {
      ending: { stopReason: 'aborted', reason },
      concerns: (state, run) => isOpen(state, run.id),
      cause: () => [closed],
      options: { close: true, refusable: true, ...(erase !== undefined && { erase }) },
      acknowledged,
    });
  }

  /** Ends runs in one append with its cause. */
  endWith(
    log: LogWriter,
    runs: readonly LiveRun[],
    caused: Pick<CausedEnding, 'ending' | 'concerns' | 'before' | 'cause' | 'options' | 'acknowledged'>,
  ): Promise<Committed> {
    return endRuns(log, {
      runs,
      execution: (run) => (run === this.active ? this.#execution : null),
      sealed: (run) => {
        if (run === this.active) this.#execution = null;
        this.queue.remove(run);
      },
      ended: (run, result) => this.ended(run, result),
      ...caused,
    });
  }

  /** Drops a run whose acceptance was refused. */
  withdraw(run: LiveRun): void {
    this.queue.remove(run);
    run.state = 'ended';
    this.advance();
  }

  /** Starts the next run, if it is its turn. */
  advance(): void {
    const log = this.session.writer;
    if (this.session.closing || this.held || !log) return;
    const run = this.queue.advance();
    if (run) void this.#start(run, log);
  }

  /** Starts a run that had to wait. */
  async #start(run: LiveRun, log: LogWriter): Promise<void> {
    this.activate(run, log);
    try {
      await log.commit(this.startOf(run));
    } catch {
      return;
    }
    this.letBegin(run, log);
  }

  /** Makes a run the active one. Its start is stored. */
  activate(run: LiveRun, log: LogWriter): Execution {
    this.queue.activate(run);
    const execution = new Execution(run, this.#port(run, log));
    this.#execution = execution;
    return execution;
  }

  /** The events that start a run. */
  startOf({ id: runId, messageId, request: { message, onBusy } }: LiveRun): readonly EventDraft[] {
    const base = { runId, ts: Date.now() };
    const start: EventDraft = { type: 'message_start', ...base, messageId, app: this.session.ref.app };
    if (onBusy !== 'steer') return [start];
    return [{ type: 'steer', ...base, messageId: message.id, consumed: false }, start];
  }

  /** Lets the app of the active run begin, unless the run has ended meanwhile. */
  letBegin(run: LiveRun, log: LogWriter): void {
    const execution = this.#execution;
    if (run !== this.active || run.state !== 'active' || !execution) return;
    const { id } = run.request.message;
    run.placed = log.view.state.messages.findLast((message) => message.id === id) ?? null;
    const before = shownBefore(log.view, id);
    if (isPromise(before)) before.then((late) => this.#begin(run, execution, late), this.#unread(run));
    else this.#begin(run, execution, before);
  }

  /** Fails a run whose conversation can't be read, as if its app had failed. */
  #unread(run: LiveRun): (error: unknown) => void {
    return (error) => {
      this.env.report(error, `reading the history of session ${this.session.id}`);
      const { code, message } = new GatewayError({ code: 'OVERLOADED' });
      this.end(run, { stopReason: 'error', error: { code, message } });
    };
  }

  #begin(run: LiveRun, execution: Execution, before: readonly Message[]): void {
    if (execution !== this.#execution || run.state !== 'active') return;
    // An answer that failed before it had content is not shown to a model either.
    const says = ({ content }: Message): boolean => content.length > 0;
    const said = before.every(says) ? before : before.filter(says);
    run.context(() => {
      const { user } = run.request;
      this.env.notify({ type: 'run:started', sessionId: this.session.id, runId: run.id, user });
      run.startedAt = performance.now();
      traceRun(run, execution, said);
    });
  }

  #port(run: LiveRun, log: LogWriter): RunPort {
    const { id, ref } = this.session;
    const { gatewayId, runMs, waitMs, answerSize, stepsSize, parkMs } = this.env;
    const session = new RunSession(this.session, log, gatewayId);
    return {
      setting: {
        ...{ gatewayId, session, app: this.env.app(ref.app) },
        ...{ runMs, waitMs, answerSize, stepsSize, parkMs },
      },
      log,
      questions: this.questions,
      now: () => storeTime(this.env.store),
      vote: (ballot) => vote(this, ballot),
      file: (fileId) => this.env.files.open(ref.scope, fileId),
      steered: () => this.#takeSteered(run),
      publish: (channel, type, payload) => this.session.publisher.publish(channel, type, payload, run.id),
      emit: (name, payload) => this.session.publisher.emit(name, payload, run.id),
      title: (text) => this.session.publisher.title(text, run.id),
      park: (until) => void this.#park(run, log, until),
      end: (ending, before) => void this.end(run, ending, before),
      warn: (what, why) => this.env.report.warn?.(what, { ...this.about(run), ...why }),
      report: (error, what) => this.env.report(error, `session ${id}: ${what}`, this.about(run)),
    };
  }

  /** The fields of a run for log lines. */
  about({ id: runId, request }: LiveRun): LogFacts {
    const { id: sessionId, ref } = this.session;
    const { user, trace, requestId } = request;
    const { traceId } = trace ?? {};
    return { user: user?.id, sessionId, app: ref.app, runId, requestId, traceId };
  }

  #takeSteered(into: LiveRun): readonly Message[] {
    const taken: Message[] = [];
    for (const run of this.queue.steering()) {
      const { message, preceding } = run.request;
      const base = { runId: run.id, ts: Date.now() };
      const consumed: EventDraft = { type: 'steer', ...base, messageId: message.id, consumed: true };
      this.end(run, { stopReason: 'steered', intoRunId: into.id }, consumed);
      taken.push(...preceding, message);
    }
    return taken;
  }

  /**
   * Ends a run in any state, and frees the session at once.
   *
   * @param before Stored in one append with the end.
   * @returns The fate of the end, once known; null if the run had ended already.
   */
  end(run: LiveRun, ending: Ending, before?: EventDraft): Promise<EndOutcome> | null {
    if (run.state === 'ended') return null;
    const execution = this.queue.active === run ? this.#execution : null;
    run.state = 'ended';
    this.queue.remove(run);
    if (execution) {
      execution.seal();
      this.#execution = null;
    }
    const stored = this.#logEnd(run, (state) => {
      // Something else has ended the run meanwhile, so its end is in the log.
      if (!isOpen(state, run.id)) return [];
      const ends = endDrafts(run, ending, state);
      return before ? [before, ...ends] : ends;
    });
    execution?.release(ending);
    this.advance();
    return stored;
  }

  async #logEnd(run: LiveRun, drafts: (state: SessionState) => readonly EventDraft[]): Promise<EndOutcome> {
    const log = this.session.writer;
    if (!log) return 'failed';
    let outcome: Omit<RunResult, 'cursor'> | undefined;
    try {
      const committed = await log.commit(
        (state) => {
          const events = drafts(state);
          outcome = outcomesOf(events).get(run.id);
          return events;
        },
        { ends: [run] },
      );
      if (outcome)
        this.ended(run, { cursor: formatCursor(log.ref.epoch, log.term, committed.last), ...outcome });
      return outcome ? 'stored' : 'over';
    } catch {
      const lost = outcome ?? { runId: run.id, message: run.emptyAnswer() };
      this.ended(run, { ...lost, stopReason: 'lost', cursor: log.view.cursor }, false);
      return 'failed';
    }
  }

  /** Settles a run whose end is stored, or of which this process will hear no more. */
  ended(run: LiveRun, result: RunResult, stored = true): void {
    const { id: sessionId, ref } = this.session;
    const session = { id: sessionId, app: ref.app };
    if (run.startedAt === null) traceUnstarted(run, { gatewayId: this.env.gatewayId, session }, result);
    run.resolve(result);
    if (stored) this.session.results.settle(run.id, result);
    const { stopReason } = result;
    this.env.notify({ type: 'run:ended', sessionId, runId: run.id, stopReason });
  }

  /**
   * Ends a run by id, or the active one, at once. Resolves when the end is stored; false if there is nothing to end.
   *
   * @throws GatewayError `OVERLOADED` if the store did not take the end
   */
  async abort(runId?: string, reason?: string): Promise<boolean> {
    const run = runId === undefined ? this.queue.active : this.queue.find(runId);
    const became = await (run && this.end(run, { stopReason: 'aborted', reason }));
    if (became !== 'failed') return became === 'stored';
    throw unavailable(new StoreError('UNKNOWN', 'The end of the run may not be stored'));
  }

  respond(callId: string, answer: Answer): Promise<void> {
    return this.questions.answer(callId, answer);
  }

  endAll(ending: Ending): void {
    for (const run of [...this.queue.all()].reverse()) this.end(run, ending);
  }

  /** Starts nothing more. Queued runs stay in the store for the next process. */
  hold(): void {
    this.held = true;
  }

  /** Lets go of the runs that the next process takes up from the store, without an end. Callers that wait here are told to come back. */
  handOver(): void {
    for (const run of this.queue.all()) {
      if (run === this.active && !this.env.app(this.session.ref.app).resumable) continue;
      this.#stop(run);
      const gone = new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
      run.reject(gone);
      this.session.results.fail(run.id, gone);
    }
  }

  /** Leaves a run that only waits to the store, if nobody waits for it or follows it here. @param until Time at which it must be resumed */
  async #park(run: LiveRun, log: LogWriter, until: number): Promise<void> {
    const { session } = this;
    const isAlone = (): boolean =>
      run === this.active && this.queue.all().length === 1 && session.writer === log && session.unfollowed;
    if (!this.env.app(session.ref.app).resumable || this.held || !isAlone()) return;
    try {
      const records = Number.isFinite(until) ? [waking(run.id, until)] : [];
      await log.commit([], { parked: true, records, refusable: true });
      // The run goes on here, so another process has to take it up if this one ends.
      if (!isAlone() || log.pending) return void (await log.commit([], { parked: false }));
      this.#stop(run);
      run.reject(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
      await session.holding.letGo();
      session.watch();
    } catch (error) {
      this.env.report(error, `parking run ${run.id}`, this.about(run));
    }
  }

  /** Stops everything without logging it, because the log was lost. */
  lose(cursor: string): void {
    for (const run of this.queue.all()) {
      this.#stop(run);
      run.resolve({ runId: run.id, message: run.emptyAnswer(), stopReason: 'lost', cursor });
    }
    this.#execution = null;
  }

  #stop(run: LiveRun): void {
    run.state = 'ended';
    const execution = run === this.active ? this.#execution : null;
    this.queue.remove(run);
    execution?.seal();
    execution?.release({ stopReason: 'lost' });
  }
}

/** The session as a turn sees it. A class, because V8 makes an object literal with an accessor slowly. */
class RunSession implements TurnSession {
  readonly id: string;
  readonly app: string;
  readonly epoch: string;
  readonly [GATEWAY]: string;
  readonly #log: LogWriter;

  constructor({ id, ref }: Session, log: LogWriter, gatewayId: string) {
    this.id = id;
    this.app = ref.app;
    this.epoch = log.ref.epoch;
    this[GATEWAY] = gatewayId;
    this.#log = log;
  }

  get title(): string | undefined {
    return this.#log.state.title;
  }
}
