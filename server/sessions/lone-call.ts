import type { UserContext } from '../../shared/contract.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { EventDraft, LoggedEventData, LoggedEventType } from '../../shared/events.js';
import type { ClientTool, ToolSession } from '../apps/application.js';
import type { GuardedPart } from '../apps/guard.js';
import type { ToolOutput, ToolSet } from '../apps/tool.js';
import { every } from '../async/deadline.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { judgeValue, moderated } from '../guard/guards.js';
import { newCallId } from '../ids.js';
import { contextOutsideCalls } from '../methods/context.js';
import type { Ballot } from '../runs/approvals.js';
import { PausableTimer } from '../runs/pausable-timer.js';
import type { Answer } from '../runs/questions.js';
import { callToolAlone } from '../runs/tool-call.js';
import type { Asked, Confirmation, ToolCaller } from '../runs/tool-caller.js';
import { ToolCallError } from '../runs/tool-error.js';
import { storeTime } from '../stores/skew.js';
import type { SessionEnvironment } from './environment.js';
import { perform } from './routing.js';
import type { Session } from './session.js';
import type { CallRequest, ConfirmationListener, Withdrawn } from './session-calls.js';

/** One call. Only its questions to people are logged. */
export class LoneCall implements ToolCaller {
  readonly result: Promise<ToolOutput>;
  readonly resumption = null;
  readonly clientTools: readonly ClientTool[] = [];
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #request: CallRequest;
  readonly #callId = newCallId();
  readonly #context = contextOutsideCalls();
  /** Made only for tools that read their signal: Node makes one slowly. */
  #controller: AbortController | null = null;
  #stopped: string | null = null;
  readonly #timer: PausableTimer;
  readonly #beganAt = performance.now();
  #asked: Withdrawn['kind'] | null = null;
  /** The event that asks the question. */
  #draft: EventDraft | null = null;
  /** Holder of the session in which the question is asked. */
  #askedOf: string | null = null;
  #accept: ((answer: Answer) => Promise<boolean>) | null = null;
  #decide: ((answer: Answer) => void) | null = null;
  #answering = false;
  #ended = false;
  #resolve!: (result: ToolOutput) => void;

  constructor(session: Session, env: SessionEnvironment, request: CallRequest) {
    this.#session = session;
    this.#env = env;
    this.#request = request;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = new PausableTimer(request.timeoutMs, () => this.stop('The tool took too long'));
    if (request.signal.aborted) this.stop('Cancelled');
    else this.#begin();
  }

  #begin(): void {
    const { name, input, signal } = this.#request;
    signal.addEventListener('abort', this.#cancelled);
    const call = { callId: this.#callId, toolName: name, asked: null };
    void this.#context(() => callToolAlone(this, call, input)).then((result) => this.#end(result));
  }

  get id(): string {
    return this.#callId;
  }
  get gatewayId(): string {
    return this.#env.gatewayId;
  }
  get over(): Promise<unknown> {
    return this.result;
  }
  get runId(): string {
    return this.#callId;
  }
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped !== null) this.#controller.abort(aborted(this.#stopped));
    }
    return this.#controller.signal;
  }
  get user(): UserContext {
    return this.#request.user;
  }
  get session(): ToolSession {
    return { id: this.#session.id, app: this.#session.ref.app };
  }
  get tools(): ToolSet {
    return this.#env.app(this.#session.ref.app).tools ?? {};
  }

  readonly #cancelled = (): void => this.stop('Cancelled');

  #end(result: ToolOutput): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer.stop();
    this.#request.signal.removeEventListener('abort', this.#cancelled);
    this.#resolve(result);
  }

  /** Ends the call in any state. */
  stop(reason: string): void {
    if (this.#ended) return;
    this.#end({ content: [{ type: 'text', text: reason }], isError: true });
    this.#stopped = reason;
    this.#context(() => this.#controller?.abort(aborted(reason)));
    this.#withdraw();
  }

  append<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void {
    if (this.#ended) return;
    if (type === 'tool_confirmation_required') this.#asked = 'confirmation';
    else if (type === 'input_required') this.#asked = 'input';
    else return;
    this.#draft = { type, ts: Date.now(), ...data } as EventDraft;
  }

  async commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void> {
    // If the question was asked here, no other gateway has the session.
    if (this.#ended || (this.#isHere && !this.#session.held))
      throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    const event = { type, ts: Date.now(), ...data } as EventDraft;
    await perform(this.#session, { type: 'record', callId: this.#callId, event });
    this.#asked = null;
  }

  async vote(ballot: Omit<Ballot, 'sender'>): Promise<Answer | null> {
    if (this.#ended) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    return perform(this.#session, { type: 'vote', ...ballot, sender: this.#request.givenBy ?? this.user.id });
  }

  now(): number {
    return storeTime(this.#env.store);
  }

  /** A call outside of runs is never parked. */
  work(): () => void {
    return () => {};
  }

  get #isHere(): boolean {
    return this.#askedOf === this.#env.holder;
  }

  async ask(
    { callId, confirmation }: Asked,
    announce: () => void,
    accept: (answer: Answer) => Promise<Answer | null>,
  ): Promise<Answer> {
    const { name, user, asked } = this.#request;
    const elsewhere = confirmation !== undefined && asked !== undefined;
    const begins = elsewhere || (await this.#session.viewers.watchedAnywhere());
    const unasked = (): ToolCallError =>
      new ToolCallError({ callId, toolName: name, denied: true }, this.#unasked());
    // Announce it even without viewers here: the holder of the session may have some.
    announce();
    const wait = new PausableTimer(this.#env.limits.waitMs, () => this.stop('Nobody answered'));
    const open = new AbortController();
    let watch: NodeJS.Timeout | undefined;
    const close = (): void => {
      wait.stop();
      open.abort();
      clearInterval(watch);
    };
    void this.result.then(close);
    this.#timer.pause();
    const answered = new Promise<Answer>((resolve) => {
      this.#decide = (answer) => {
        this.#asked = null;
        close();
        this.#timer.resume();
        resolve(answer);
      };
      this.#accept = async (answer) => {
        const accepted = await this.#context(() => accept(answer));
        if (accepted) this.#decide?.(accepted);
        return accepted !== null;
      };
    });
    const question = { callId, name, asker: this.#env.holder, event: this.#draft!, userId: user.id };
    try {
      this.#askedOf = await perform(this.#session, { type: 'ask', ...question, elsewhere, begins });
    } catch (error) {
      close();
      this.#asked = null;
      if (!begins && isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') throw unasked();
      throw error;
    }
    if (this.#askedOf === null) {
      close();
      this.#asked = null;
      throw unasked();
    }
    // The call may have been stopped before its question was stored.
    if (this.#ended) this.#withdraw();
    else if (!this.#isHere) watch = this.#watch();
    if (elsewhere && !this.#ended) void this.#askElsewhere(asked, confirmation, open.signal);
    return answered;
  }

  /** Stops the call once its question is no longer open: the holder of the session has gone. */
  #watch(): NodeJS.Timeout | undefined {
    const look = async (): Promise<void> => {
      const asks = await this.#asks();
      if (!asks && this.#asked && !this.#answering) this.stop('The question was taken back');
    };
    return every(this.#session.cluster.leaseMs, () => void look());
  }

  /** Whether anybody sees the question; null if it is not open. */
  async #asks(): Promise<{ readonly watched: boolean } | null> {
    try {
      return await perform(this.#session, { type: 'asks', callId: this.#callId });
    } catch (error) {
      // The holder of the session may be back at the next look.
      const isGone = isGatewayError(error) && error.code === 'SESSION_NOT_FOUND';
      return isGone ? null : { watched: true };
    }
  }

  /** Takes a decision that was made without an answer. */
  decided(answer: Answer): void {
    if (this.#asked) this.#decide?.(answer);
  }

  /** Takes a person's answer; false if more answers are needed. @throws GatewayError the reason why it is refused */
  async answered(answer: Answer): Promise<boolean> {
    if (!this.#accept || !this.#asked) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    this.#answering = true;
    try {
      return await this.#accept(answer);
    } finally {
      this.#answering = false;
    }
  }

  #withdraw(): void {
    if (!this.#asked || this.#askedOf === null) return;
    // A lost session drops its questions.
    if (this.#isHere && !this.#session.held) return;
    const { name, user } = this.#request;
    const taken = { callId: this.#callId, name, kind: this.#asked, by: user.id };
    const failed = (error: unknown): void => {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return;
      this.report(error, 'a question could not be taken back');
    };
    const withdrawn = perform(this.#session, { type: 'withdraw', ...taken });
    if (isPromise(withdrawn)) withdrawn.catch(failed);
  }

  async #askElsewhere(
    asked: ConfirmationListener,
    confirmation: Confirmation,
    open: AbortSignal,
  ): Promise<void> {
    try {
      await asked(confirmation, open);
    } catch (error) {
      if (open.aborted) return;
      const seen = this.#isHere
        ? await this.#session.viewers.watchedAnywhere()
        : (await this.#asks())?.watched;
      if (seen) return;
      this.stop(isGatewayError(error) ? error.message : this.#unasked());
    }
  }

  #unasked(): string {
    return `A person has to agree to ${this.#request.name}, but nobody follows the session ${this.#session.id}, where the question appears`;
  }

  checked<Value>(kind: GuardedPart, name: string, value: Value): MaybePromise<Value> {
    const { id, ref } = this.#session;
    const guard = this.#env.guardOf(this.#env.app(ref.app));
    if (!guard?.guards(kind)) return value;
    const run = { id: this.#callId, app: ref.app, sessionId: id };
    return judgeValue(guard, value, { kind, name, run, user: this.user }).then((judged) => {
      if ('end' in judged) throw moderated(judged.end);
      return judged.value as Value;
    });
  }

  progress(data: LoggedEventData['tool_progress']): void {
    if (this.#ended) return;
    const { timeoutMs, progress } = this.#request;
    // A tool that reports goes on, up to the time that it has in a run.
    const left = this.#env.limits.runMs - (performance.now() - this.#beganAt);
    this.#timer.restart(Math.min(timeoutMs, left));
    progress?.(data);
  }

  report(error: unknown, what: string): void {
    const { id, facts } = this.#session;
    this.#env.report(error, `session ${id}: ${what}`, facts);
  }
}

const aborted = (reason: string): DOMException => new DOMException(reason, 'AbortError');
