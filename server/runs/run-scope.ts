import type { UserContext } from '../../shared/contract.js';
import type { HandOff } from '../../shared/control.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft, LoggedEventData, LoggedEventType } from '../../shared/events.js';
import type { GivenOutput } from '../../shared/operation-types.js';
import type { AppEvent, Application, ClientTool, TurnSession } from '../apps/application.js';
import type { Child, SpawnOptions } from '../apps/child.js';
import type { GuardedPart } from '../apps/guard.js';
import type { ToolSet } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { givenId } from '../ids.js';
import { checkLogged } from '../schema/check-logged.js';
import { AnswerWriter, string } from './answer-writer.js';
import { type Ballot, dueRecord } from './approvals.js';
import type { LiveChild } from './child.js';
import { finish, gateOf, say } from './gated.js';
import { LatestProgress } from './latest-progress.js';
import type { LiveRun } from './live-run.js';
import { Marks } from './marks.js';
import { PausableTimer } from './pausable-timer.js';
import { Numbers, QuestionBatches } from './question-batches.js';
import type { Answer } from './questions.js';
import type { Rehearsal } from './rehearsal.js';
import type { Resumption } from './resumption.js';
import { RunOver } from './run-over.js';
import type { Overseer, RunPort } from './run-port.js';
import { RunSignal } from './run-signal.js';
import type { SpeechGate } from './speech-gate.js';
import { endingOf } from './thrown.js';
import type { Asked, Confirmation, ToolCaller } from './tool-caller.js';
import { Uses } from './uses.js';
import { sleepUntil, Waits } from './waits.js';

/** The work of an app and its tools in a run. It has no effect after the end of the run. */
export class RunScope implements ToolCaller, Overseer {
  readonly run: LiveRun;
  readonly port: RunPort;
  readonly answer: AnswerWriter;
  /** The gate before the answer; null if nothing that the app says is checked. */
  readonly gate: SpeechGate | null;
  resumption: Resumption | null = null;
  readonly #signal = new RunSignal();
  #clock: PausableTimer | null = null;
  readonly #batches: QuestionBatches;
  readonly waits: Waits;
  /** Number of steps and tools at work. */
  #working = 0;
  #marks: Marks | null = null;
  // Made on first use: most runs have no children.
  #children: Map<string, LiveChild> | null = null;
  readonly #nameless = new Numbers();
  #progress: LatestProgress | null = null;
  readonly uses = new Uses(this);

  constructor(run: LiveRun, port: RunPort) {
    this.run = run;
    this.port = port;
    this.#batches = new QuestionBatches(port.log);
    const { parkMs } = port.setting;
    const busy = (): boolean => this.#working > 0 || this.gate?.holds === true;
    this.waits = new Waits({ parkMs, busy, parked: (until, waits) => port.park(until, waits) });
    const began = (): void => {
      run.firstDeltaAt ??= performance.now();
    };
    const { answerSize: maxSize } = port.setting;
    const parent = port.overseer?.answer;
    this.answer = new AnswerWriter(run, port.log, { began, maxSize, parent });
    if (run.resumed) this.answer.resume(run.resumed);
    port.rehearses?.(this.answer);
    this.gate = gateOf(this, port.setting.guard);
  }

  get ended(): boolean {
    return this.run.state === 'ended';
  }
  get gatewayId(): string {
    return this.port.setting.gatewayId;
  }
  get runId(): string {
    return this.run.id;
  }
  get over(): Promise<unknown> {
    return this.run.ended;
  }
  get signal(): AbortSignal {
    return this.#signal.signal;
  }
  get user(): UserContext | null {
    return this.run.request.user;
  }
  get session(): TurnSession {
    return this.port.setting.session;
  }
  get rehearsal(): Rehearsal | undefined {
    return this.port.rehearsal;
  }
  get app(): Application {
    return this.port.setting.app;
  }
  get tools(): ToolSet {
    return this.app.tools ?? {};
  }
  get clientTools(): readonly ClientTool[] {
    return this.run.request.clientTools;
  }
  get toolOutputs(): readonly GivenOutput[] | undefined {
    return this.run.request.toolOutputs;
  }

  get marks(): Marks {
    this.#marks ??= new Marks(this);
    return this.#marks;
  }

  get children(): Map<string, LiveChild> {
    this.#children ??= new Map();
    return this.#children;
  }

  /** @throws DOMException `AbortError` once the run has ended: no code of the app begins in it */
  work(): () => void {
    this.#assertGoingOn();
    this.#working += 1;
    return () => {
      this.#working -= 1;
      this.waits.used();
    };
  }

  /** Starts the clock of the run. */
  start(): void {
    const { inline, detached } = this.run.request.lane ?? {};
    // A function of the parent is part of the parent's time.
    const runMs = inline && !detached ? Number.POSITIVE_INFINITY : this.port.setting.runMs;
    this.#clock = new PausableTimer(runMs, () => {
      // An app that hangs can't report it, so the gateway ends the run.
      this.#timeOut(`The app took longer than ${runMs} ms`, 'limits.runMs');
    });
  }

  /** Takes one item of the app's output, with the same checks as calls of the turn. @throws GatewayError */
  take(item: string | AppEvent): void {
    if (this.ended) return;
    const type = typeof item === 'object' && item !== null ? item.type : null;
    if (type === 'data') {
      const { id, name, value } = item as Extract<AppEvent, { type: 'data' }>;
      this.data(string(name, 'name'), value, id);
    } else if (type === 'custom') {
      const { name, payload } = item as Extract<AppEvent, { type: 'custom' }>;
      say(this, { name: string(name, 'name'), value: payload }, (said) => this.port.emit(name, said));
    } else (this.gate ?? this.answer).item(item);
  }

  /** Creates or replaces a data block of the answer. @throws GatewayError `INVALID_PARAMS` if the value does not fit the app's schema */
  data(name: string, value: unknown, id: string): void {
    givenId(name, 'name');
    checkLogged(this.app.data, name, value, (error) => this.report(error, `data block ${name}`));
    this.append('data', { id: givenId(id, 'id'), name, value });
  }

  /** Checks a value before something is done with it, behind all that the app has said. @throws RunOver if the run ends by it */
  checked<Value>(kind: GuardedPart, name: string, value: Value): MaybePromise<Value> {
    return this.gate ? (this.gate.checked(kind, name, value) as Promise<Value>) : value;
  }

  now(): number {
    return this.port.now();
  }

  append<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void {
    if (this.ended) return;
    this.waits.used();
    const isQuestion = type === 'tool_confirmation_required' || type === 'input_required';
    const batch = isQuestion && this.#batches.of(data as LoggedEventData['input_required']);
    const put = { type, runId: this.runId, ts: Date.now(), ...data, ...(batch && { batch }) };
    const due = type === 'tool_confirmation_required' && dueRecord(data as Confirmation);
    // The due time is stored in the same append. If that fails, the run has lost its log.
    if (due) return void this.port.log.commit([put as EventDraft], { records: [due] }).catch(() => {});
    (this.gate ?? this.answer).event(put as EventDraft);
    if (batch) this.#batches.note(batch);
  }

  async commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void> {
    // An answer that was still being checked at the end of the run comes too late.
    if (this.ended) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    const draft = { type, runId: this.runId, ts: Date.now(), ...data } as EventDraft;
    await this.port.log.commit([draft], { refusable: true });
  }

  async vote(ballot: Omit<Ballot, 'sender'>): Promise<Answer | null> {
    if (this.ended) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    const { grant } = this.run.request;
    return this.port.vote({ ...ballot, sender: grant?.givenBy ?? this.user?.id });
  }

  async ask(
    { callId, confirmation }: Asked,
    announce: () => void,
    accept: (answer: Answer) => Promise<Answer | null>,
  ): Promise<Answer> {
    if (this.ended) return new Promise(() => {});
    // Runs beside each other may count their calls alike, and an answer names only the call.
    if (this.port.questions.isOfOther(callId, this.runId))
      throw new GatewayError({ code: 'INVALID_PARAMS', message: `Another run has an open call ${callId}` });
    // Log the question first, because that may be refused: an unasked question must not wait for an answer.
    announce();
    return new Promise((resolve) => {
      const done = this.#pause();
      const decide = (answer: Answer): true => {
        done();
        resolve(answer);
        return true;
      };
      this.port.questions.add({
        callId,
        runId: this.runId,
        voted: confirmation?.policy !== undefined,
        accept: async (answer) => {
          const accepted = await this.run.context(() => accept(answer));
          return accepted ? decide(accepted) : false;
        },
        decide,
        drop: done,
      });
    });
  }

  /** Stops the run's clock while the run waits for a person. */
  #pause(): () => void {
    const release = this.hold();
    const { waitMs } = this.port.setting;
    // Only this process knows how long the run has waited, so a run with a limited wait is not parked.
    const noMore = Number.isFinite(waitMs) ? () => {} : this.waits.add(Number.POSITIVE_INFINITY);
    const wait = new PausableTimer(waitMs, () =>
      this.#timeOut(`Nobody answered within ${waitMs} ms`, 'limits.waitMs'),
    );
    let waiting = true;
    return () => {
      if (!waiting) return;
      waiting = false;
      noMore();
      wait.stop();
      release();
    };
  }

  hold(): () => void {
    this.#clock?.pause();
    this.run.slot?.rest();
    const release = this.port.overseer?.hold();
    return () => {
      this.#clock?.resume();
      this.run.slot?.work();
      release?.();
    };
  }

  /** Begins a child, or joins the one of that id. @throws GatewayError */
  spawn(app: string, { id, ...options }: SpawnOptions): Child {
    this.#assertGoingOn();
    const name = id ?? `${app}:${this.#nameless.next(app)}`;
    return this.port.spawn(this, { ...options, app, id: name });
  }

  #assertGoingOn(): void {
    if (this.ended) throw new RunOver();
  }

  /** Sleeps until a time of the store's clock, which all gateways have, while the clock of the run stands still. */
  async sleep(at: number): Promise<void> {
    if (at <= this.now()) return;
    this.#clock?.pause();
    this.run.slot?.rest();
    const noMore = this.waits.add(at);
    try {
      await sleepUntil(at, () => this.now(), this.signal);
    } finally {
      noMore();
      this.#clock?.resume();
      this.run.slot?.work();
    }
  }

  progress(data: LoggedEventData['tool_progress']): void {
    if (this.ended) return;
    this.#progress ??= new LatestProgress(
      (report) => this.append('tool_progress', report),
      (error) => this.fail(error),
    );
    this.#progress.add(data);
  }

  report(error: unknown, what: string): void {
    this.port.report(error, what);
  }

  /** Asks for a person to take over, and ends the run. */
  handOff(asked: HandOff): void {
    const { reason } = asked;
    const request: EventDraft = { type: 'hand_off_requested', runId: this.runId, ts: Date.now(), ...asked };
    const ending = { stopReason: 'handed_off', ...(reason !== undefined && { reason }) } as const;
    finish(this, () => this.port.end(ending, request));
  }

  #timeOut(message: string, option: string): void {
    const error = { code: 'TIMEOUT', message } as const;
    this.run.failure ??= { error: new GatewayError(error) };
    this.port.end({ stopReason: 'timeout', error });
    this.port.warn('a run has timed out', { reason: message, option });
  }

  /** Ends the run by what its app threw. A person's denial is no failure of the app. */
  fail(thrown: unknown): void {
    if (this.ended) return;
    const { unseen, ...ending } = endingOf(thrown);
    if (unseen) this.report(unseen.error, 'the app failed');
    if (ending.stopReason === 'error') this.run.failure = { error: thrown };
    finish(this, () => this.port.end(ending));
  }

  /** Writes the last progress, before the end of the run. */
  flush(): void {
    try {
      this.#progress?.flush();
    } catch {
      // It no longer fits the answer.
    }
  }

  /** Takes nothing more, since the run has ended. Calls no code of the app. */
  seal(): void {
    this.gate?.close();
    this.waits.stop();
    this.#clock?.stop();
  }

  /** Aborts the signal of everything that still runs for the app. */
  abort(reason: string): void {
    this.#signal.abort(reason);
  }
}
