import type { UserContext } from '../../shared/contract.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { type EventDraft, isDelta, type LoggedEventData, type LoggedEventType } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message, StopReason, Usage } from '../../shared/messages.js';
import type {
  AppEvent,
  Application,
  AppOutput,
  AppResult,
  ClientTool,
  TurnSession,
} from '../apps/application.js';
import type { ToolSet } from '../apps/tool.js';
import type { LogWriter } from '../log/log-writer.js';
import { isPromise } from '../maybe-promise.js';
import { AnswerWriter } from './answer-writer.js';
import { PausableTimer } from './pausable-timer.js';
import type { Answer, Questions } from './questions.js';
import type { Resumption } from './resumption.js';
import { answerOf, type Run } from './run.js';
import type { RunContext } from './run-context.js';
import { createTurn } from './turn.js';

/** What a run's execution needs of its session. */
export interface ExecutionHost {
  readonly gatewayId: string;
  readonly session: TurnSession;
  readonly app: Application;
  readonly log: LogWriter;
  readonly questions: Questions;
  readonly runMs: number;
  /** Longest answer, in characters. */
  readonly answerSize: number;
  /** Longest wait for a person; infinite by default. */
  readonly waitMs: number;
  takeSteered(run: Run): readonly Message[];
  publish(channel: string, payload: unknown, type: string, runId: string): void;
  emitCustom(name: string, payload: unknown, runId: string): void;
  /** Asks for the run to end; the session logs the end. */
  end(run: Run, ending: Ending): void;
  report(error: unknown, what: string): void;
}

/** How a run ends. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly intoRunId?: string;
  /** Handed to the app's signal. */
  readonly reason?: string | undefined;
}

// A generator that never waits would starve the process; after this many items others get their turn.
const BURST = 512;
/** What an app may return as its `stopReason`. */
const APP_STOPS: ReadonlySet<unknown> = new Set<AppResult['stopReason']>(['end', 'max_tokens', 'tool_use']);

/** Drives an app through one run. Once ended, whatever the app still does is discarded. */
export class Execution implements RunContext {
  readonly #run: Run;
  readonly #host: ExecutionHost;
  readonly #controller = new AbortController();
  readonly #writer: AnswerWriter;
  #timer: PausableTimer | null = null;
  #iterator: AsyncIterator<string | AppEvent, unknown> | null = null;
  #ended = false;
  #burst = 0;
  resumption: Resumption | null = null;
  #usage: Record<string, unknown> | null = null;
  #metadata: Record<string, unknown> | null = null;
  #progress: Map<string, LoggedEventData['tool_progress']> | null = null;

  constructor(run: Run, host: ExecutionHost) {
    this.#run = run;
    this.#host = host;
    const append = (draft: EventDraft): number => {
      if (run.firstDeltaAt === null && isDelta(draft)) run.firstDeltaAt = performance.now();
      return host.log.append(draft);
    };
    this.#writer = new AnswerWriter(run.id, append, host.answerSize);
    if (run.resumed) this.#writer.resume(run.resumed);
  }

  get gatewayId(): string {
    return this.#host.gatewayId;
  }
  get runId(): string {
    return this.#run.id;
  }
  get over(): Promise<unknown> {
    return this.#run.ended;
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  get user(): UserContext | null {
    return this.#run.request.user;
  }
  get session(): TurnSession {
    return this.#host.session;
  }
  get app(): Application {
    return this.#host.app;
  }
  get tools(): ToolSet {
    return this.#host.app.tools ?? {};
  }
  get clientTools(): readonly ClientTool[] {
    return this.#run.request.clientTools;
  }

  start(history: readonly Message[]): void {
    const { runMs } = this.#host;
    this.#timer = new PausableTimer(runMs, () => {
      const error = this.#timeOut(`The app took longer than ${runMs} ms`);
      // An app that hangs says nothing of its own.
      this.#host.report(new GatewayError(error), `run ${this.runId} took longer than limits.runMs`);
    });
    const turn = createTurn(this, this.#run, history, {
      steered: () => (this.#ended ? [] : this.#host.takeSteered(this.#run)),
      publish: (channel, payload, type) => {
        if (!this.#ended) this.#host.publish(channel, payload, type, this.runId);
      },
      custom: (name, payload) => {
        if (!this.#ended) this.#host.emitCustom(name, payload, this.runId);
      },
      usage: (counts) => {
        if (!this.#ended) this.#addUsage(counts);
      },
      annotate: (metadata) => {
        if (!this.#ended) this.#metadata = { ...this.#metadata, ...copy(metadata) };
      },
    });
    try {
      const output: AppOutput = this.#host.app.run(turn);
      if (isPromise(output)) output.then(this.#take, this.#fail);
      else this.#take(output);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #take = (output: Awaited<AppOutput>): void => {
    try {
      if (!isAsyncIterable(output)) return this.#complete(output);
      this.#iterator = output[Symbol.asyncIterator]();
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#ended) this.#releaseIterator();
    else this.#next();
  };

  #next(): void {
    try {
      Promise.resolve(this.#iterator!.next()).then(this.#step, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  }

  // Callbacks instead of `for await`: a pending `next()` must not hold up the end of the run.
  readonly #step = (result: IteratorResult<string | AppEvent, unknown>): void => {
    if (this.#ended) return;
    try {
      // An iterator of the app's own may answer with anything.
      if (result.done) return this.#complete(result.value);
      this.#writer.item(result.value);
    } catch (error) {
      return this.#fail(error);
    }
    if (++this.#burst < BURST && !this.#host.log.stalled) return this.#next();
    this.#burst = 0;
    setImmediate(() => void this.#breathe());
  };

  /** Lets the event loop turn and the store catch up before the app goes on. */
  async #breathe(): Promise<void> {
    await Promise.resolve(this.#host.log.settled()).catch(() => {});
    await this.#host.log.flowing();
    if (!this.#ended) this.#next();
  }

  #complete(value: unknown): void {
    if (this.#ended) return;
    try {
      const result: AppResult = typeof value === 'string' ? { text: value } : ((value ?? {}) as AppResult);
      if (typeof result.text === 'string') this.#writer.text(result.text);
      if (result.usage) this.#addUsage(result.usage);
      this.#host.end(this.#run, { stopReason: stopReasonOf(result.stopReason) });
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #fail = (error: unknown): void => {
    if (this.#ended) return;
    // What is behind an error that clients may read is for the log alone.
    const unseen = isGatewayError(error) ? error.cause : error;
    if (unseen !== undefined || !isGatewayError(error)) this.#host.report(unseen, 'the app failed');
    this.#run.failure = { error };
    const { code, message } = isGatewayError(error) ? error : { code: 'INTERNAL', message: 'The app failed' };
    this.#host.end(this.#run, {
      stopReason: 'error',
      error: { code: String(code), message: String(message) },
    });
  };

  /** What the end of the run says of its answer, as that stands in the log by then. */
  endDrafts(ending: Ending, state: SessionState): readonly EventDraft[] {
    const run = this.#run;
    const answer = state.run?.runId === run.id ? answerOf(state.run) : run.emptyAnswer();
    const metadata = this.#metadata;
    const usage = this.#usage as Usage | null;
    return endDrafts(run, ending, metadata ? { ...answer, metadata } : answer, usage);
  }

  /** Takes nothing more from the app. Calls nobody's code. */
  seal(): void {
    if (this.#ended) return;
    try {
      this.#flushProgress();
    } catch {
      // The last progress does not fit the answer any more, which is at its end.
    }
    this.#ended = true;
    this.#timer?.stop();
    this.#host.questions.dropRun(this.runId);
  }

  /** Tells the app that its run has ended. What it does about it, it does as itself and not as whoever ended the run. */
  release({ stopReason, reason }: Ending): void {
    this.#run.context(() => {
      if (stopReason !== 'end') this.#controller.abort(new DOMException(reason ?? stopReason, 'AbortError'));
      this.#releaseIterator();
    });
  }

  #releaseIterator(): void {
    try {
      // A generator that hangs never answers; one that is done answers at once.
      this.#iterator?.return?.()?.then(undefined, () => {});
    } catch {
      // An iterator whose `return` throws has nothing left that could be ended.
    }
  }

  emit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void {
    if (this.#ended) return;
    this.#writer.event({ type, runId: this.runId, ts: Date.now(), ...data } as EventDraft);
  }

  async commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void> {
    // An answer that was still being checked when the run ended comes too late.
    if (this.#ended) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    const draft = { type, runId: this.runId, ts: Date.now(), ...data } as EventDraft;
    await this.#host.log.commit([draft], { refusable: true });
  }

  async ask(
    callId: string,
    announce: () => void,
    accept: (answer: Answer) => Promise<Answer>,
  ): Promise<Answer> {
    if (this.#ended) return new Promise(() => {});
    // First, because it may be refused: what nobody was asked must not wait for an answer.
    announce();
    return new Promise((resolve) => {
      const done = this.#pause();
      this.#host.questions.add({
        callId,
        runId: this.runId,
        accept: async (answer) => {
          const accepted = await this.#run.context(() => accept(answer));
          done();
          resolve(accepted);
        },
        drop: done,
      });
    });
  }

  #timeOut(message: string): { readonly code: 'TIMEOUT'; readonly message: string } {
    const error = { code: 'TIMEOUT', message } as const;
    this.#run.failure ??= { error: new GatewayError(error) };
    this.#host.end(this.#run, { stopReason: 'timeout', error });
    return error;
  }

  /** Stops the run's clock while a person is waited for. */
  #pause(): () => void {
    this.#timer?.pause();
    const { waitMs } = this.#host;
    const wait = new PausableTimer(waitMs, () => this.#timeOut(`Nobody answered within ${waitMs} ms`));
    let waiting = true;
    return () => {
      if (!waiting) return;
      waiting = false;
      wait.stop();
      this.#timer?.resume();
    };
  }

  progress(data: LoggedEventData['tool_progress']): void {
    if (this.#ended) return;
    if (!this.#progress) {
      this.#progress = new Map();
      setImmediate(() => {
        try {
          this.#flushProgress();
        } catch (error) {
          this.#fail(error);
        }
      });
    }
    this.#progress.set(data.callId, data);
  }

  #flushProgress(): void {
    const reports = this.#progress;
    this.#progress = null;
    if (reports) for (const data of reports.values()) this.emit('tool_progress', data);
  }

  report(error: unknown, what: string): void {
    this.#host.report(error, what);
  }

  #addUsage(counts: Usage): void {
    const usage = { ...this.#usage };
    for (const [name, value] of Object.entries(copy(counts))) {
      const old = usage[name];
      usage[name] = typeof value === 'number' && typeof old === 'number' ? old + value : value;
    }
    this.#usage = usage;
  }
}

/** Why an app says it stopped. @throws GatewayError `INTERNAL` for what is no reason an app can have */
function stopReasonOf(reason: unknown = 'end'): StopReason {
  if (APP_STOPS.has(reason)) return reason as StopReason;
  const reasons = [...APP_STOPS].join(', ');
  throw new GatewayError({
    code: 'INTERNAL',
    message: `The app returned a stopReason that is none; use one of ${reasons}`,
  });
}

/** The events that end a run. */
export function endDrafts(
  run: Run,
  ending: Ending,
  message: Message,
  usage: Usage | null,
): readonly EventDraft[] {
  const base = { runId: run.id, ts: Date.now() };
  const { stopReason, error, intoRunId } = ending;
  const end: EventDraft = {
    type: 'message_end',
    ...base,
    stopReason,
    ...(intoRunId !== undefined && { intoRunId }),
    ...(usage && { usage }),
    message,
  };
  return error ? [{ type: 'run_error', ...base, ...error }, end] : [end];
}

function isAsyncIterable(value: unknown): value is AsyncIterable<string | AppEvent, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** What of an object survives as JSON. @throws GatewayError `INTERNAL` for what is no object; TypeError for a cycle or bigint */
function copy<T extends object>(value: T): Record<string, unknown> {
  // Each character of a text, and each item of a list, would become a field.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: 'Usage and annotations are objects of named values',
    });
  }
  return JSON.parse(JSON.stringify(value) ?? '{}') as Record<string, unknown>;
}
