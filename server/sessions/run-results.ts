import { GatewayError } from '../../shared/errors.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { RunRecord } from '../stores/store.js';

interface Awaited {
  /** Whether the store has, or had, a record of it. */
  accepted: boolean;
  readonly promise: Promise<RunResult>;
  resolve(result: RunResult): void;
  reject(error: GatewayError): void;
}

/**
 * Those who wait for runs of a session to end. What they are told is what the store has, whoever ended the run and wherever. A log
 * that is lost to this process tells them nothing, until the process ends too.
 */
export class RunResults {
  readonly #awaited = new Map<string, Awaited>();

  /** The runs that are waited for. */
  get runIds(): readonly string[] {
    return [...this.#awaited.keys()];
  }

  get size(): number {
    return this.#awaited.size;
  }

  /** Waits for a run, from now on: its end must not have been told yet. Nobody has to look at what it returns. */
  of(runId: string): Promise<RunResult> {
    const known = this.#awaited.get(runId);
    if (known) return known.promise;
    let resolve!: Awaited['resolve'];
    let reject!: Awaited['reject'];
    const promise = new Promise<RunResult>((...settle) => {
      [resolve, reject] = settle;
    });
    promise.catch(() => {});
    this.#awaited.set(runId, { promise, resolve, reject, accepted: false });
    return promise;
  }

  /** The store has a record of a run. */
  accept(runId: string): void {
    const awaited = this.#awaited.get(runId);
    if (awaited) awaited.accepted = true;
  }

  /** Whether the store has, or had, a record of a run that is waited for. */
  isAccepted(runId: string): boolean {
    return this.#awaited.get(runId)?.accepted ?? false;
  }

  /** The store has no record any more of a run that was accepted. */
  missing(runId: string): void {
    const message = 'There is no such run any more: its session was deleted, or the store has forgotten it';
    this.fail(runId, new GatewayError({ code: 'RUN_NOT_FOUND', message }));
  }

  /** The end of a run is stored. */
  settle(runId: string, result: RunResult): void {
    this.#take(runId)?.resolve(result);
  }

  /** What the store knows of a run by now. */
  learn({ runId, request, result }: RunRecord): void {
    if (result) this.settle(runId, result);
    else if (request === undefined)
      this.fail(
        runId,
        new GatewayError({ code: 'CURSOR_GONE', message: 'The outcome of this run is no longer kept' }),
      );
  }

  /** Nobody here will hear of the run's end. */
  fail(runId: string, error: GatewayError): void {
    this.#take(runId)?.reject(error);
  }

  /** The run was never begun. */
  forget(runId: string): void {
    this.#awaited.delete(runId);
  }

  /** The gateway ends: others may say how these runs do. */
  leave(error: GatewayError): void {
    for (const runId of this.runIds) this.fail(runId, error);
  }

  /** The gateway ends, and the store has not said how these runs do. @param cursor How much of the log is known */
  lose(cursor: string): void {
    for (const runId of this.runIds) {
      const message = { id: runId, role: 'assistant', content: [], createdAt: Date.now() } as const;
      this.settle(runId, { runId, message, stopReason: 'lost', cursor });
    }
  }

  #take(runId: string): Awaited | undefined {
    const awaited = this.#awaited.get(runId);
    this.#awaited.delete(runId);
    return awaited;
  }
}
