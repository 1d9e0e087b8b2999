import { GatewayError } from '../../shared/errors.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { RunRecord } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { RETRY_MS } from './holding.js';
import type { Session } from './session.js';

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
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #awaited = new Map<string, Awaited>();
  /** Reads again what could not be read. */
  #again: NodeJS.Timeout | null = null;
  /** The gateway is ending. */
  #ended = false;
  /** How many runs of which log had ended when all that are awaited were read. */
  #known: string | undefined;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
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

  /** A run that is waited for was accepted: here, or where the session is held. */
  accepted(runId: string): void {
    this.#noteAccepted(runId);
    if (this.#session.writer) return;
    this.#session.watch();
    void this.learn();
  }

  #noteAccepted(runId: string): void {
    const awaited = this.#awaited.get(runId);
    if (awaited) awaited.accepted = true;
  }

  /** Resolves with the outcome of an accepted run, as the store has it. Follows the session until that is there. */
  async ofAccepted(runId: string): Promise<RunResult> {
    const result = this.of(runId);
    this.#noteAccepted(runId);
    this.#session.watch();
    await this.learn();
    return result;
  }

  /** The same as `learn`, where any run has ended since that was done last. */
  async learnEnds(): Promise<void> {
    const { log } = this.#session;
    const { ended } = log?.activity ?? {};
    const known = ended === undefined ? undefined : `${log!.ref.epoch} ${ended}`;
    if (known !== undefined && known === this.#known) return;
    if (await this.learn()) this.#known = known;
  }

  /**
   * Finds out how the runs ended that somebody waits for, where others may have ended them.
   *
   * @param beginning The run that is about to be accepted
   * @returns Whether that could be read
   */
  async learn(beginning?: string): Promise<boolean> {
    const session = this.#session;
    let isKnown = true;
    try {
      for (const [runId, awaited] of [...this.#awaited]) {
        // What is being accepted, is queued or runs here is told when it ends.
        if (runId === beginning || session.runs.queue.find(runId)) {
          isKnown = false;
          continue;
        }
        // Before the store is asked: one that is accepted meanwhile may not be in its answer.
        const { accepted } = awaited;
        const record = await this.#env.store.run(session.ref, { runId });
        // It has ended here, or is ending: the store may have forgotten that.
        if (record && !record.result && session.writer) void session.holding.recheck();
        if (record) this.#tell(record);
        else if (accepted) this.#missing(runId);
      }
    } catch (error) {
      isKnown = false;
      session.report(error, `reading runs of session ${session.id}`);
      // Nobody else may come to tell.
      this.#again ??= setTimeout(() => {
        this.#again = null;
        if (this.size > 0 && !this.#ended) void this.learn();
      }, RETRY_MS.first).unref();
    }
    session.watch();
    return isKnown;
  }

  /** The store has no record any more of a run that was accepted. */
  #missing(runId: string): void {
    const message = 'There is no such run any more: its session was deleted, or the store has forgotten it';
    this.fail(runId, new GatewayError({ code: 'RUN_NOT_FOUND', message }));
  }

  /** The end of a run is stored. */
  settle(runId: string, result: RunResult): void {
    this.#take(runId)?.resolve(result);
  }

  /** What the store knows of a run by now. */
  #tell({ runId, request, result }: RunRecord): void {
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
    this.#ended = true;
    for (const runId of [...this.#awaited.keys()]) this.fail(runId, error);
  }

  #take(runId: string): Awaited | undefined {
    const awaited = this.#awaited.get(runId);
    this.#awaited.delete(runId);
    return awaited;
  }
}
