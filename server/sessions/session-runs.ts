import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { ActiveRun, SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { rootContext } from '../async/async-context.js';
import { traceRun, traceUnstarted } from '../diagnostics/run.js';
import type { Committed } from '../log/append-group.js';
import type { LogWriter } from '../log/log-writer.js';
import { outcomesOf } from '../log/outcome.js';
import { unavailable } from '../log/unavailable.js';
import type { Ending } from '../runs/ending.js';
import { Execution } from '../runs/execution.js';
import { answerOf, LiveRun, type RunRequest } from '../runs/live-run.js';
import { type Answer, Questions } from '../runs/questions.js';
import { InheritedQuestion, Resumption } from '../runs/resumption.js';
import type { RunPort } from '../runs/run-port.js';
import { type RunRecord, StoreError } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { assertNewIds, assertNotKept } from './message-ids.js';
import { type CausedEnding, endRuns, endsOf, isOpen } from './run-endings.js';
import { RunQueue } from './run-queue.js';
import { type LeftRuns, toNewRun } from './run-record.js';
import type { Session } from './session.js';

/** A message that was accepted, or the run that its key had started before. */
export type AcceptedRun =
  | {
      /** Number of runs before it. */
      readonly position: number;
      /** Place just before `message_accepted`. */
      readonly cursor: string;
    }
  | { readonly duplicate: RunRecord };

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

  get active(): LiveRun | null {
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
  async accept(request: RunRequest): Promise<AcceptedRun> {
    const { message, preceding, metadata, onBusy, key } = request;
    const asked = assertNotKept(request, this.#session.writer);
    if (asked) await asked;
    const log = this.#session.writer;
    // A close may have begun while the store was asked.
    if (!log || this.#session.closing) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
    assertNewIds(request, log.state, this.queue.all());
    this.queue.check(onBusy);
    const run = new LiveRun(request);
    const place = this.queue.add(run);
    const interrupts = onBusy === 'interrupt';
    const position = interrupts ? 0 : place;
    const accepted: EventDraft = {
      type: 'message_accepted',
      runId: run.id,
      ts: Date.now(),
      message,
      ...(preceding.length > 0 && { preceding }),
      ...(key !== undefined && { key }),
      onBusy,
      position,
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
    let acceptedAfter = 0;
    let behind = 0;
    let starts = false;
    try {
      // What it supersedes ends in the same append, or not at all; and where nothing else runs then, it starts in it.
      const committed = await this.#endWith(log, interrupts ? this.queue.mayRun() : [], {
        ending: { stopReason: 'superseded' },
        concerns: (state, other) => state.run?.runId === other.id,
        cause: (state, ends) => {
          behind = ends.length;
          const idle = !state.run || ends.length > 0;
          starts = idle && (interrupts || state.queue.length === 0) && !this.#held && !this.#session.closing;
          return starts ? [accepted, ...this.#startOf(run)] : [accepted];
        },
        options: {
          opens: toNewRun(request),
          refusable: true,
          acknowledged: () => {
            if (starts) this.#activate(run, log);
          },
        },
      });
      if (committed.duplicate) {
        this.#withdraw(run);
        return { duplicate: committed.duplicate };
      }
      acceptedAfter = committed.first + behind - 1;
    } catch (error) {
      this.#withdraw(run);
      throw error instanceof StoreError ? unavailable(error) : error;
    }
    if (run.state === 'accepting') run.state = 'queued';
    if (starts) this.#run(run, log);
    this.#advance();
    return { position, cursor: log.view.cursorAt(acceptedAfter) };
  }

  /** Ends every accepted run in one append with the end of the session. @throws GatewayError `OVERLOADED`: nothing has ended */
  async close(log: LogWriter, reason: string, acknowledged: () => void): Promise<void> {
    const closed: EventDraft = { type: 'session_closed', ts: Date.now(), reason };
    await this.#endWith(log, [...this.queue.all()].reverse(), {
      ending: { stopReason: 'aborted', reason },
      concerns: (state, run) => isOpen(state, run.id),
      cause: () => [closed],
      options: { close: true, refusable: true, acknowledged },
    });
  }

  #endWith(
    log: LogWriter,
    runs: readonly LiveRun[],
    caused: Pick<CausedEnding, 'ending' | 'concerns' | 'cause' | 'options'>,
  ): Promise<Committed> {
    return endRuns(log, {
      ...caused,
      runs,
      execution: (run) => (run === this.active ? this.#execution : null),
      sealed: (run) => {
        if (run === this.active) this.#execution = null;
        this.queue.remove(run);
      },
      ended: (run, result) => this.#ended(run, result),
    });
  }

  #withdraw(run: LiveRun): void {
    this.queue.remove(run);
    run.state = 'ended';
    this.#advance();
  }

  #advance(): void {
    const log = this.#session.writer;
    if (this.#session.closing || this.#held || !log) return;
    const run = this.queue.advance();
    if (run) void this.#start(run, log);
  }

  /** Starts what waits, after a close that was refused. */
  resume(): void {
    this.#advance();
  }

  /** Starts a run that had to wait. */
  async #start(run: LiveRun, log: LogWriter): Promise<void> {
    this.#activate(run, log);
    try {
      await log.commit(this.#startOf(run));
    } catch {
      return;
    }
    this.#run(run, log);
  }

  #activate(run: LiveRun, log: LogWriter): void {
    this.queue.activate(run);
    this.#execution = new Execution(run, this.#port(run, log));
  }

  #startOf({ id: runId, messageId, request: { message, onBusy } }: LiveRun): readonly EventDraft[] {
    const base = { runId, ts: Date.now() };
    const start: EventDraft = { type: 'message_start', ...base, messageId, app: this.#session.ref.app };
    if (onBusy !== 'steer') return [start];
    return [{ type: 'steer', ...base, messageId: message.id, consumed: false }, start];
  }

  /** Lets the app of the active run begin, if that has not ended meanwhile. */
  #run(run: LiveRun, log: LogWriter): void {
    const execution = this.#execution;
    if (run !== this.active || run.state !== 'active' || !execution) return;
    const { messages } = log.state;
    const at = messages.findLastIndex((other) => other.id === run.request.message.id);
    // An answer that failed before it said anything says nothing to a model either.
    const said = (at < 0 ? messages : messages.slice(0, at)).filter(({ content }) => content.length > 0);
    run.context(() => {
      const { user } = run.request;
      this.#env.notify({ type: 'run:started', sessionId: this.#session.id, runId: run.id, user });
      run.startedAt = performance.now();
      traceRun(run, execution, said);
    });
  }

  #port(run: LiveRun, log: LogWriter): RunPort {
    const { id, ref } = this.#session;
    const { gatewayId, runMs, waitMs, answerSize, stepsSize } = this.#env;
    const session = { id, app: ref.app, epoch: log.ref.epoch };
    return {
      setting: { gatewayId, session, app: this.#env.app(ref.app), runMs, waitMs, answerSize, stepsSize },
      log,
      questions: this.questions,
      file: (fileId) => this.#env.files.open(ref.scope, fileId),
      steered: () => this.#takeSteered(run),
      publish: (channel, type, payload) => this.#session.publisher.publish(channel, type, payload, run.id),
      emit: (name, payload) => this.#session.publisher.emit(name, payload, run.id),
      end: (ending) => void this.end(run, ending),
      report: (error, what) => this.#env.report(error, `session ${id}: ${what}`),
    };
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
   * Ends a run, whatever it is doing, and frees the session at once.
   *
   * @param before Stored in one append with the end.
   * @returns Whether the end was stored, once that is known; null when the run had ended.
   */
  end(run: LiveRun, ending: Ending, before?: EventDraft): Promise<boolean> | null {
    if (run.state === 'ended') return null;
    const execution = this.queue.active === run ? this.#execution : null;
    run.state = 'ended';
    this.queue.remove(run);
    if (execution) {
      execution.seal();
      this.#execution = null;
    }
    const stored = this.#logEnd(run, (state) => {
      // A run that something else has ended meanwhile has its end.
      if (!isOpen(state, run.id)) return [];
      const ends = endsOf(run, execution, ending, state);
      return before ? [before, ...ends] : ends;
    });
    execution?.release(ending);
    this.#advance();
    return stored;
  }

  async #logEnd(run: LiveRun, drafts: (state: SessionState) => readonly EventDraft[]): Promise<boolean> {
    const log = this.#session.writer;
    if (!log) return false;
    let outcome: Omit<RunResult, 'cursor'> | undefined;
    try {
      const committed = await log.commit(
        (state) => {
          const events = drafts(state);
          outcome = outcomesOf(events).get(run.id);
          return events;
        },
        { ends: [run.id] },
      );
      if (outcome)
        this.#ended(run, { ...outcome, cursor: formatCursor(log.ref.epoch, log.term, committed.last) });
      return true;
    } catch {
      const lost = outcome ?? { runId: run.id, message: run.emptyAnswer() };
      this.#ended(run, { ...lost, stopReason: 'lost', cursor: log.view.cursor }, false);
      return false;
    }
  }

  /** The end of a run is stored, or this process does not hear of that any more. */
  #ended(run: LiveRun, result: RunResult, stored = true): void {
    const { id: sessionId, ref } = this.#session;
    const session = { id: sessionId, app: ref.app };
    if (run.startedAt === null) traceUnstarted(run, { gatewayId: this.#env.gatewayId, session }, result);
    run.resolve(result);
    if (stored) this.#session.results.settle(run.id, result);
    const { stopReason } = result;
    this.#env.notify({ type: 'run:ended', sessionId, runId: run.id, stopReason });
  }

  /**
   * Ends a run by id, or the active one, at once; resolves when that is stored. False when there is nothing to end.
   *
   * @throws GatewayError `OVERLOADED` when the store did not take it
   */
  async abort(runId?: string, reason?: string): Promise<boolean> {
    const run = runId === undefined ? this.queue.active : this.queue.find(runId);
    const stored = run && this.end(run, { stopReason: 'aborted', reason });
    if (!stored) return false;
    if (await stored) return true;
    throw unavailable(new StoreError('UNKNOWN', 'The end of the run may not be stored'));
  }

  respond(callId: string, answer: Answer): Promise<void> {
    return this.questions.answer(callId, answer);
  }

  endAll(ending: Ending): void {
    for (const run of [...this.queue.all()].reverse()) this.end(run, ending);
  }

  /** Takes up what another process left: goes on with its run or ends it as `lost`, and starts what it had accepted. */
  recover(log: LogWriter, open: LeftRuns): void {
    const { run: left, queue } = log.state;
    if (left && !this.#resume(left, log, open))
      this.#endLeft({ ...left, message: answerOf(left) }, log, open);
    for (const queued of queue) {
      const run = new LiveRun(open.request(queued), { context: rootContext });
      run.state = 'queued';
      this.queue.restore(run);
    }
    this.#advance();
  }

  #resume({ runId, message: answer }: ActiveRun, log: LogWriter, open: LeftRuns): boolean {
    const { messages, pending } = log.state;
    const messageId = open.messageId(runId);
    const message = messages.findLast(({ id }) => id === messageId);
    if (!message || !this.#env.app(this.#session.ref.app).resumable) return false;
    const run = new LiveRun(open.request({ runId, message, onBusy: 'queue' }), {
      resumed: answer,
      context: rootContext,
    });
    run.state = 'active';
    this.queue.active = run;
    const execution = new Execution(run, this.#port(run, log));
    this.#execution = execution;
    const asked = pending.filter((question) => question.runId === runId);
    for (const question of asked) this.questions.add(new InheritedQuestion(runId, question));
    execution.resume(new Resumption(answer, asked, open.steps(runId)));
    // Whoever opens the session is not to wait for the app.
    setImmediate(() => {
      this.#run(run, log);
    });
    return true;
  }

  #endLeft({ runId, message }: ActiveRun, log: LogWriter, open: LeftRuns): void {
    const end = { type: 'message_end', runId, ts: Date.now(), stopReason: 'lost', message } as const;
    const run = new LiveRun(open.request({ ...end, onBusy: 'queue' }), {
      resumed: message,
      context: rootContext,
    });
    log.commit([end], { ends: [run.id] }).then(
      ({ last }) => this.#ended(run, { runId, message, stopReason: 'lost', cursor: log.view.cursorAt(last) }),
      (error: unknown) => this.#env.report(error, `ending lost run ${runId}`),
    );
  }

  /** Starts nothing more: what is queued stays in the store for the next process. */
  hold(): void {
    this.#held = true;
  }

  /** Lets go, without an end, of what the next process takes up from the store. Whoever waits here is told to come back. */
  handOver(): void {
    const { resumable } = this.#env.app(this.#session.ref.app);
    for (const run of this.queue.all()) {
      if (run === this.active && !resumable) continue;
      this.#stop(run);
      const gone = new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
      run.reject(gone);
      this.#session.results.fail(run.id, gone);
    }
  }

  /** The log was lost: stops everything without logging it. */
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
