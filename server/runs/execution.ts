import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../shared/errors.js';
import type { StopReason } from '../../shared/messages.js';
import type { AppEvent, AppOutput, AppResult, TurnSession } from '../apps/application.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { outputOf } from './alone.js';
import type { Ending } from './ending.js';
import { finish } from './gated.js';
import type { LiveRun } from './live-run.js';
import { LiveTurn, type ShownHistory } from './live-turn.js';
import type { Resumption } from './resumption.js';
import type { RunPort } from './run-port.js';
import { RunScope } from './run-scope.js';

// A generator that never waits would starve the process, so the loop yields after this many items.
const BURST = 512;
/** The stop reasons that an app may return. */
const APP_STOPS: ReadonlySet<unknown> = new Set<AppResult['stopReason']>(['end', 'max_tokens', 'tool_use']);

/** Drives an app through one run. Discards everything that the app does after the end of the run. */
export class Execution {
  readonly #run: LiveRun;
  readonly #port: RunPort;
  readonly #log: RunPort['log'];
  readonly #scope: RunScope;
  #iterator: AsyncIterator<string | AppEvent, unknown> | null = null;

  constructor(run: LiveRun, port: RunPort) {
    this.#run = run;
    this.#port = port;
    this.#log = port.log;
    this.#scope = new RunScope(run, port);
  }

  get gatewayId(): string {
    return this.#scope.gatewayId;
  }

  get resumable(): boolean {
    return this.#scope.app.resumable === true;
  }

  get session(): TurnSession {
    return this.#scope.session;
  }

  /** Resumes the run of a former process, with its open questions. */
  resume(resumption: Resumption): void {
    this.#scope.resumption = resumption;
    resumption.passed = (callId) => this.#scope.marks.pass(callId);
  }

  start(history: ShownHistory): void {
    this.#scope.start();
    this.#scope.answer.again(this.#scope.resumption?.taken ?? []);
    const turn = new LiveTurn(this.#scope, history);
    const begun = turn.begins();
    if (begun) begun.then(() => this.#call(turn), this.#fail);
    else this.#call(turn);
  }

  #call(turn: LiveTurn): void {
    if (this.#scope.ended) return;
    try {
      const output = outputOf(this.#scope, turn);
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
    if (this.#scope.ended) this.#releaseIterator();
    else void this.#drive(this.#iterator);
  };

  /** Reads the app's output. No caller waits for it: a pending `next()` must not hold up the end of the run. */
  async #drive(iterator: AsyncIterator<string | AppEvent, unknown>): Promise<void> {
    try {
      for (let burst = 1; ; burst++) {
        // A custom iterator may return its next item without a promise.
        const next = iterator.next() as MaybePromise<IteratorResult<string | AppEvent, unknown>>;
        const result = isPromise(next) ? await next : next;
        if (this.#scope.ended) return;
        if (result.done) return this.#complete(result.value);
        this.#scope.take(result.value);
        if (burst < BURST && !this.#log.stalled && !this.#scope.gate?.full) continue;
        burst = 0;
        await this.#breathe();
        if (this.#scope.ended) return;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Yields to the event loop and waits for the store before the app goes on. */
  async #breathe(): Promise<void> {
    await nextTurn();
    await Promise.resolve(this.#log.settled()).catch(() => {});
    await this.#log.flowing();
    await this.#scope.gate?.flowing();
  }

  #complete(value: unknown): void {
    if (this.#scope.ended) return;
    try {
      const result: AppResult = typeof value === 'string' ? { text: value } : ((value ?? {}) as AppResult);
      const { gate, answer } = this.#scope;
      if (typeof result.text === 'string') (gate ?? answer).text(result.text);
      if (result.usage) this.#scope.uses.add(result.usage);
      const stopReason = stopReasonOf(result.stopReason);
      finish(this.#scope, () => this.#port.end({ stopReason }));
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #fail = (error: unknown): void => this.#scope.fail(error);

  /** Writes what the app has said before its run ends. */
  flush(): void {
    this.#scope.flush();
  }

  /** Takes nothing more from the app. Calls no code of the app. */
  seal(): void {
    this.#scope.seal();
  }

  /** Tells the app that its run has ended, in the app's own async context rather than that of the caller who ended the run. */
  release({ stopReason, error, reason }: Ending): void {
    this.#run.context(() => {
      const why = stopReason === 'end' ? error?.message : (reason ?? stopReason);
      if (why !== undefined) this.#scope.abort(why);
      this.#releaseIterator();
    });
  }

  #releaseIterator(): void {
    try {
      // A hanging generator never settles this promise; a finished one does so at once.
      this.#iterator?.return?.()?.then(undefined, () => {});
    } catch {
      // An iterator whose `return` throws has nothing left to end.
    }
  }
}

/** Checks the stop reason that an app returned. @throws GatewayError `INTERNAL` for a reason that apps can't have */
function stopReasonOf(reason: unknown = 'end'): StopReason {
  if (APP_STOPS.has(reason)) return reason as StopReason;
  const reasons = [...APP_STOPS].join(', ');
  throw new GatewayError({
    code: 'INTERNAL',
    message: `The app returned an unknown stopReason; use one of ${reasons}`,
  });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<string | AppEvent, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
