import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { RunResult } from '../../shared/operation-types.js';
import { resultOf } from '../log/outcome.js';
import { asUnavailable } from '../log/unavailable.js';
import { StoreError } from '../stores/append.js';
import type { RunRecord } from '../stores/stored.js';
import type { SessionEnvironment } from './environment.js';
import { RETRY_MS } from './hold.js';
import type { Session } from './session.js';

interface Awaited {
  /** Whether the store has, or had, a record of the run. */
  accepted: boolean;
  readonly promise: Promise<RunResult>;
  resolve(result: RunResult): void;
  reject(error: GatewayError): void;
}

/**
 * The callers who wait for runs of a session to end. They are told what the store has, whichever gateway ended the run. If this process
 * loses the log, it answers them only when it ends.
 */
export class RunResults {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #awaited = new Map<string, Awaited>();
  /** Timer that reads again after a failed read. */
  #again: NodeJS.Timeout | null = null;
  /** Log, and number of ended runs in it, at the last complete read. */
  #known: string | undefined;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  get size(): number {
    return this.#awaited.size;
  }

  /** Waits for a run from now on. Call it before the end of the run can be announced. The returned promise may be ignored. */
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

  /** Notes that an awaited run was accepted, here or at the holder. */
  accepted(runId: string): void {
    this.#noteAccepted(runId);
    if (this.#session.held) return;
    this.#session.reader.watch();
    void this.learn();
  }

  #noteAccepted(runId: string): void {
    const awaited = this.#awaited.get(runId);
    if (awaited) awaited.accepted = true;
  }

  /** Resolves with the outcome of a stored run once the store has that. Follows the session until then. */
  async ofStored(record: RunRecord): Promise<RunResult> {
    const { runId, request } = record;
    if (request === undefined) return asUnavailable(() => this.#outcomeOf(record));
    const result = this.of(runId);
    this.#noteAccepted(runId);
    this.#session.reader.watch();
    await this.learn();
    return result;
  }

  /** Like `learn`, but only if any run has ended since the last read. */
  async learnEnds(): Promise<void> {
    const { log } = this.#session;
    const { ended } = log?.activity ?? {};
    const known = ended === undefined ? undefined : `${log!.ref.epoch} ${ended}`;
    if (known !== undefined && known === this.#known) return;
    if (await this.learn()) this.#known = known;
  }

  /**
   * Reads from the store how awaited runs ended, because other gateways may have ended them.
   *
   * @param beginning The run that is about to be accepted
   * @returns Whether every awaited run could be read
   */
  async learn(beginning?: string): Promise<boolean> {
    const session = this.#session;
    let isKnown = true;
    try {
      for (const [runId, awaited] of [...this.#awaited]) {
        // A run that is being accepted, queued or active here is settled when it ends.
        if (runId === beginning || session.held?.runs.find(runId)) {
          isKnown = false;
          continue;
        }
        // Note this before asking the store: its answer may lack a run that is accepted meanwhile.
        const { accepted } = awaited;
        const record = await this.#env.store.run(session.ref, { runId });
        // The run has ended here, or is ending. The store may have forgotten its end.
        if (record && !record.result && session.held) void session.hold.recheck();
        if (record) await this.#tell(record);
        else if (accepted) this.#missing(runId);
      }
    } catch (error) {
      isKnown = false;
      session.report(error, `reading runs of session ${session.id}`);
      // Nobody else may come to trigger another read.
      this.#again ??= setTimeout(() => {
        this.#again = null;
        if (this.size > 0) void this.learn();
      }, RETRY_MS.first).unref();
    }
    session.reader.watch();
    return isKnown;
  }

  /** Fails a run that was accepted and of which the store has no record any more. */
  #missing(runId: string): void {
    const message = 'There is no such run any more: its session was deleted, or the store has forgotten it';
    this.fail(runId, new GatewayError({ code: 'RUN_NOT_FOUND', message }));
  }

  /** Settles a run whose end is stored. */
  settle(runId: string, result: RunResult): void {
    this.#take(runId)?.resolve(result);
  }

  /** Settles a run by its stored record, if that has an end. @throws StoreError */
  async #tell(record: RunRecord): Promise<void> {
    if (record.request !== undefined) return;
    try {
      this.settle(record.runId, await this.#outcomeOf(record));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      this.fail(record.runId, error);
    }
  }

  /**
   * The outcome of a run that has ended.
   *
   * @throws GatewayError `CURSOR_GONE` if the answer is no longer kept
   * @throws StoreError also where the store has forgotten the end since it told of it
   */
  async #outcomeOf(record: RunRecord): Promise<RunResult> {
    const { store } = this.#env;
    const { ref } = this.#session;
    const result = await resultOf(store, ref, record);
    if (result) return result;
    const now = await store.run(ref, { runId: record.runId });
    if (now?.result?.cursor !== record.result?.cursor)
      throw new StoreError('UNAVAILABLE', `The store has forgotten how run ${record.runId} ended`);
    throw new GatewayError({ code: 'CURSOR_GONE', message: 'The outcome of this run is no longer kept' });
  }

  /** Fails a run whose end nobody here will hear of. */
  fail(runId: string, error: GatewayError): void {
    this.#take(runId)?.reject(error);
  }

  /** Forgets a run that never began. */
  forget(runId: string): void {
    this.#awaited.delete(runId);
  }

  /** Fails all awaited runs as the gateway ends: other gateways can tell how they do. */
  leave(error: GatewayError): void {
    for (const runId of [...this.#awaited.keys()]) this.fail(runId, error);
  }

  #take(runId: string): Awaited | undefined {
    const awaited = this.#awaited.get(runId);
    this.#awaited.delete(runId);
    return awaited;
  }
}
