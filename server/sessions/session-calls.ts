import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft, LoggedEventData, LoggedEventType } from '../../shared/events.js';
import type { ClientTool, ToolSession } from '../apps/application.js';
import type { ToolOutput, ToolSet } from '../apps/tool.js';
import { newCallId } from '../ids.js';
import type { LogWriter } from '../log/log-writer.js';
import { contextOutsideCalls } from '../methods/context.js';
import { PausableTimer } from '../runs/pausable-timer.js';
import type { Answer } from '../runs/questions.js';
import { callToolAlone, type ToolCaller } from '../runs/tool-call.js';
import { ToolCallError } from '../runs/tool-error.js';
import type { SessionEnvironment } from './environment.js';
import type { Session } from './session.js';

/** Hears the progress of a tool. */
export type ToolProgressListener = (progress: LoggedEventData['tool_progress']) => void;

/** A tool call that belongs to no run. */
export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly user: UserContext;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** Time for the tool, without the time it waits for a person. */
  readonly timeoutMs: number;
  readonly progress?: ToolProgressListener;
}

/** The tool calls of a session that belong to no run: another protocol's client calls its tools itself. */
export class SessionCalls {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #open = new Set<LoneCall>();

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Calls a tool. A failure of the tool is its result; never rejects. */
  async call(request: CallRequest): Promise<ToolOutput> {
    const call = new LoneCall(this.#session, this.#env, request);
    this.#open.add(call);
    try {
      return await call.result;
    } finally {
      this.#open.delete(call);
    }
  }

  /** Resolves when the calls that are under way have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#open].map((call) => call.result));
  }

  endAll(reason: string): void {
    for (const call of this.#open) call.stop(reason);
  }

  /** Withdraws what a former process had asked for calls that ended with it. */
  recover(log: LogWriter): void {
    for (const { runId, callId, name, kind } of log.state.pending)
      if (runId === undefined) log.append(withdrawal(kind, { callId, name, by: 'gateway' }));
  }
}

/** One call. Nothing of it is logged but what a person has to answer. */
class LoneCall implements ToolCaller {
  readonly result: Promise<ToolOutput>;
  readonly resumption = null;
  readonly clientTools: readonly ClientTool[] = [];
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #request: CallRequest;
  readonly #callId = newCallId();
  readonly #context = contextOutsideCalls();
  /** Made for the tools that look at their signal: Node makes one slowly. */
  #controller: AbortController | null = null;
  #stopped: string | null = null;
  readonly #timer: PausableTimer;
  #asked: 'confirmation' | 'input' | null = null;
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

  /** Ends the call, whatever it is doing. */
  stop(reason: string): void {
    if (this.#ended) return;
    this.#end({ content: [{ type: 'text', text: reason }], isError: true });
    this.#stopped = reason;
    this.#context(() => this.#controller?.abort(aborted(reason)));
    this.#session.runs.questions.dropRun(this.#callId);
    if (!this.#asked) return;
    const { name, user } = this.#request;
    this.#session.writer?.append(withdrawal(this.#asked, { callId: this.#callId, name, by: user.id }));
  }

  append<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void {
    if (this.#ended) return;
    if (type === 'tool_confirmation_required') this.#asked = 'confirmation';
    else if (type === 'input_required') this.#asked = 'input';
    else return;
    this.#session.writer?.append({ type, ts: Date.now(), ...data } as EventDraft);
  }

  async commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void> {
    const { writer } = this.#session;
    if (this.#ended || !writer) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    await writer.commit([{ type, ts: Date.now(), ...data } as EventDraft], { refusable: true });
    this.#asked = null;
  }

  async ask(
    callId: string,
    announce: () => void,
    accept: (answer: Answer) => Promise<Answer>,
  ): Promise<Answer> {
    const { name, user } = this.#request;
    const { id, viewers } = this.#session;
    if (!viewers.watching) {
      const message = `A person has to agree to ${name}, and nobody follows the session ${id} where they would be asked`;
      throw new ToolCallError({ callId, toolName: name, denied: true }, message);
    }
    await this.#session.hold({ userId: user.id });
    if (this.#ended) return new Promise(() => {});
    // First, because it may be refused: what nobody was asked must not wait for an answer.
    announce();
    this.#timer.pause();
    const wait = new PausableTimer(this.#env.waitMs, () => this.stop('Nobody answered'));
    return new Promise((resolve) => {
      const done = (): void => {
        wait.stop();
        this.#timer.resume();
      };
      this.#session.runs.questions.add({
        callId,
        runId: this.#callId,
        accept: async (answer) => {
          const accepted = await this.#context(() => accept(answer));
          done();
          resolve(accepted);
        },
        drop: () => wait.stop(),
      });
    });
  }

  progress(data: LoggedEventData['tool_progress']): void {
    if (!this.#ended) this.#request.progress?.(data);
  }

  report(error: unknown, what: string): void {
    this.#env.report(error, `session ${this.#session.id}: ${what}`);
  }
}

const aborted = (reason: string): DOMException => new DOMException(reason, 'AbortError');

/** Takes a question back that nobody is to answer any more. */
function withdrawal(
  kind: 'confirmation' | 'input',
  { callId, name, by }: { readonly callId: string; readonly name: string; readonly by: string },
): EventDraft {
  const base = { ts: Date.now(), callId, name, by };
  return kind === 'input'
    ? { type: 'input_result', ...base, output: null }
    : { type: 'tool_confirmation_result', ...base, approved: false, reason: 'withdrawn' };
}
