import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { isPromise } from '../async/maybe-promise.js';
import type { LogFacts } from '../diagnostics/log-facts.js';
import { traceRun, traceUnstarted } from '../diagnostics/run.js';
import { outcomesOf } from '../log/outcome.js';
import { commitPlan, type Done, type Plan } from '../log/plan.js';
import { unavailable } from '../log/unavailable.js';
import { type Ending, endDrafts, isOpen, PLAINER_ENDS } from '../runs/ending.js';
import { Execution } from '../runs/execution.js';
import type { LiveRun } from '../runs/live-run.js';
import type { ShownHistory } from '../runs/live-turn.js';
import { type Answer, Questions } from '../runs/questions.js';
import type { RunPort } from '../runs/run-port.js';
import { StoreError } from '../stores/append.js';
import type { HeldEnvironment } from './environment.js';
import type { HeldSession } from './held-session.js';
import { historyOf } from './history.js';
import { endsWithConversation } from './keeping.js';
import { Lanes } from './lanes.js';
import { respond } from './past-question.js';
import { endUnread, readPatiently } from './patient.js';
import { portOf } from './port.js';
import { type CausedEnding, type EndedRun, endRuns, resultsOf } from './run-endings.js';
import { RunQueue } from './run-queue.js';
import { takeSlot } from './take-slot.js';

/** The fate of a run's end: stored, void because something else ended the run before, or refused by the store. */
type EndOutcome = 'stored' | 'over' | 'failed';

/**
 * The runs of one session, each with exactly one logged end: those of the conversation, one at a time, and those beside it. `acceptance.ts`
 * accepts them; `recovery.ts` takes them up.
 */
export class SessionRuns {
  readonly queue: RunQueue;
  readonly lanes: Lanes;
  readonly questions = new Questions();
  readonly held: HeldSession;
  readonly env: HeldEnvironment;
  /** The executions of the runs that are under way here. */
  readonly #executions = new Map<LiveRun, Execution>();

  constructor(held: HeldSession) {
    this.held = held;
    this.env = held.env;
    this.queue = new RunQueue(held.env.limits.queueLength, held.tenure);
    this.lanes = new Lanes(held);
  }

  get active(): LiveRun | null {
    return this.queue.active;
  }

  get busy(): boolean {
    return this.queue.busy || this.lanes.roots.size > 0;
  }

  /** The runs whose apps are at work here, without those that a parent ends. */
  get running(): readonly LiveRun[] {
    return [...(this.active ? [this.active] : []), ...this.lanes.roots];
  }

  /** The runs that have no parent to end them: of the conversation, and beside it. */
  all(): readonly LiveRun[] {
    return [...this.queue.all(), ...this.lanes.roots];
  }

  /** A run that has not ended here, by its id. */
  find(runId: string): LiveRun | null {
    return this.queue.find(runId) ?? this.lanes.find(runId);
  }

  /**
   * Ends every accepted run and the session in one append. With `erase`, the same append drops everything that is kept.
   *
   * @throws GatewayError `OVERLOADED`: nothing has ended
   */
  async close(
    { reason, erase }: { readonly reason: string; readonly erase: string | undefined },
    acknowledged: () => void,
  ): Promise<void> {
    const closed: EventDraft = { type: 'session_closed', ts: Date.now(), reason };
    // An erasure takes everything along.
    const records = erase === undefined ? await endsWithConversation(this.held) : [];
    await this.endWith([...this.all()].reverse(), {
      ending: { stopReason: 'aborted', reason },
      concerns: (state, run) => isOpen(state, run.id),
      cause: () => ({ events: [closed], records }),
      options: { close: true, refusable: true, ...(erase !== undefined && { erase }) },
      acknowledged,
    });
  }

  /** Ends runs in one append with its cause. */
  endWith<Cause extends Plan>(runs: readonly LiveRun[], caused: CausedEnding<Cause>): Promise<Done<Cause>> {
    const seal = (run: LiveRun): EndedRun => this.#seal(run);
    return endRuns(
      this.held.log,
      { runs, seal, settle: (results, over) => this.settle(results, over) },
      caused,
    );
  }

  /** Forgets a run that is over here. Nobody answers its questions any more. */
  #remove(run: LiveRun): void {
    run.slot?.leave();
    this.questions.dropRun(run.id);
    this.#executions.delete(run);
    this.queue.remove(run);
    this.lanes.remove(run);
  }

  /** Drops a run whose acceptance was refused. */
  withdraw(run: LiveRun): void {
    this.#remove(run);
    run.state = 'ended';
    this.advance();
  }

  /** Starts the next run, if it is its turn. */
  advance(): void {
    if (!this.held.mayStart) return;
    const run = this.queue.advance();
    if (run) void this.#start(run);
  }

  /** Starts a run that had to wait. */
  async #start(run: LiveRun): Promise<void> {
    this.activate(run);
    try {
      await this.held.log.commit(this.startOf(run));
    } catch {
      return;
    }
    this.letBegin(run);
  }

  /** Makes a run the active one. Its start is stored. */
  activate(run: LiveRun): Execution {
    this.queue.activate(run);
    return this.execute(run, portOf(this.held, run, this.env.app(this.held.ref.app)));
  }

  /** Makes what drives a run. */
  execute(run: LiveRun, port: RunPort): Execution {
    const execution = new Execution(run, port);
    this.#executions.set(run, execution);
    return execution;
  }

  /** The events that start a run. */
  startOf({ id: runId, messageId, request: { message, onBusy } }: LiveRun): readonly EventDraft[] {
    const base = { runId, ts: Date.now() };
    const { app } = this.held.ref;
    const { version } = this.env.app(app);
    const start: EventDraft = {
      type: 'message_start',
      ...base,
      messageId,
      app,
      ...(version !== undefined && { version }),
    };
    if (onBusy !== 'steer') return [start];
    return [{ type: 'steer', ...base, messageId: message.id, consumed: false }, start];
  }

  /** Lets the app of the active run begin, unless the run has ended meanwhile. */
  letBegin(run: LiveRun): void {
    const execution = this.#executions.get(run);
    if (run.state !== 'active' || !execution) return;
    takeSlot(this.held, run, () => {
      const before = readPatiently(this.held, run, () => historyOf(this.held.log.view, run));
      if (!isPromise(before)) return this.#begin(run, execution, before);
      before.then(
        (late) => this.#begin(run, execution, late),
        (error: unknown) => endUnread(this.held, run, error),
      );
    });
  }

  #begin(run: LiveRun, execution: Execution, before: ShownHistory): void {
    if (execution !== this.#executions.get(run) || run.state !== 'active') return;
    run.context(() => {
      const { user } = run.request;
      this.env.notify({ type: 'run:started', sessionId: this.held.id, runId: run.id, user });
      run.startedAt = performance.now();
      traceRun(run, execution, before);
    });
  }

  /** The fields of a run for log lines. */
  about({ id: runId, request }: LiveRun): LogFacts {
    const { id: sessionId, ref } = this.held;
    const { user, trace, requestId } = request;
    const { traceId } = trace ?? {};
    return { user: user?.id, sessionId, scope: ref.scope, app: ref.app, runId, requestId, traceId };
  }

  /** Takes the queued messages that steer a run of the conversation. */
  takeSteered(into: LiveRun): readonly Message[] {
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
    const { tree } = run;
    for (const each of tree) this.#executions.get(each)?.flush();
    const ended = tree.map((each) => this.#seal(each));
    const stored = this.#logEnd(tree, (state, refused) => {
      // Something else has ended the run meanwhile, so its end is in the log.
      if (!isOpen(state, run.id)) return { events: [] };
      const ends = endDrafts(run, ending, state, { tree, refused });
      // The store may be able to keep the end without the event that comes with it.
      return { events: before && refused === 0 ? [before, ...ends] : ends };
    });
    for (const { execution } of ended) execution?.release(ending);
    this.advance();
    return stored;
  }

  /** Ends a run here. Nothing that its app does has an effect any more. */
  #seal(run: LiveRun): EndedRun {
    const execution = this.#executions.get(run) ?? null;
    run.state = 'ended';
    this.#remove(run);
    execution?.seal();
    return { run, execution };
  }

  /** @param tree The run and its children */
  async #logEnd(
    tree: readonly LiveRun[],
    make: (state: SessionState, refused: number) => Plan,
  ): Promise<EndOutcome> {
    const { log } = this.held;
    try {
      const { plan, committed } = await commitPlan(log, make, { ends: tree, forms: PLAINER_ENDS });
      const results = resultsOf(log, plan.events, committed.first);
      this.settle(results, tree);
      return results.size > 0 ? 'stored' : 'over';
    } catch {
      // The answers as far as the log has them.
      const outcomes = outcomesOf(make(log.state, 0).events);
      for (const each of tree) {
        const lost = outcomes.get(each.id) ?? { runId: each.id, message: each.emptyAnswer() };
        this.ended(each, { ...lost, stopReason: 'lost', cursor: log.view.cursor }, false);
      }
      return 'failed';
    }
  }

  /** Settles runs whose ends are stored. @param here Those that this process has driven */
  settle(results: ReadonlyMap<string, RunResult>, here: readonly LiveRun[]): void {
    for (const [runId, result] of results) {
      const run = here.find(({ id }) => id === runId);
      if (run) this.ended(run, result);
      else {
        // A child that its parent has not called for since it was resumed.
        this.questions.dropRun(runId);
        this.held.tenure.results.settle(runId, result);
      }
    }
  }

  /** Settles a run whose end is stored, or of which this process will hear no more. */
  ended(run: LiveRun, result: RunResult, stored = true): void {
    const { id: sessionId, ref } = this.held;
    const session = { id: sessionId, app: ref.app };
    if (run.startedAt === null) traceUnstarted(run, { gatewayId: this.env.gatewayId, session }, result);
    this.lanes.forget(run);
    run.resolve(result);
    if (stored) this.held.tenure.results.settle(run.id, result);
    this.env.notify({ type: 'run:ended', sessionId, runId: run.id, stopReason: result.stopReason });
  }

  /**
   * Ends a run by id, or the active one, at once. Resolves when the end is stored; false if there is nothing to end.
   *
   * @throws GatewayError `OVERLOADED` if the store did not take the end
   */
  async abort(runId?: string, reason?: string): Promise<boolean> {
    const run = runId === undefined ? this.queue.active : this.find(runId);
    const became = await (run && this.end(run, { stopReason: 'aborted', reason }));
    if (became !== 'failed') return became === 'stored';
    throw unavailable(new StoreError('UNKNOWN', 'The end of the run may not be stored'));
  }

  respond(callId: string, answer: Answer): Promise<void> {
    return respond(this.held, callId, answer);
  }

  endAll(ending: Ending): void {
    for (const run of [...this.all()].reverse()) this.end(run, ending);
  }

  /** Lets go of the runs that the next process takes up from the store, without an end. Callers that wait here are told to come back. */
  handOver(): void {
    for (const run of this.all()) {
      if (this.#executions.get(run)?.resumable === false) continue;
      const gone = new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
      for (const each of this.stop(run)) {
        each.reject(gone);
        this.held.tenure.results.fail(each.id, gone);
      }
    }
    this.lanes.wake();
  }

  /** Stops everything without logging it, because the session is no longer held here. */
  drop(cursor: string): void {
    for (const run of this.all())
      for (const each of this.stop(run))
        each.resolve({ runId: each.id, message: each.emptyAnswer(), stopReason: 'lost', cursor });
    this.questions.dropAll();
    this.lanes.wake();
  }

  /** Stops a run and its children without logging it. */
  stop(run: LiveRun): readonly LiveRun[] {
    const { tree } = run;
    // They are open still, in the log.
    this.questions.leave();
    const stopped = tree.map((each) => this.#seal(each));
    for (const { execution } of stopped) execution?.release({ stopReason: 'lost' });
    return tree;
  }
}
