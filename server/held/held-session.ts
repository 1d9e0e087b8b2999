import type { GatewayError } from '../../shared/errors.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { LogWriter } from '../log/log-writer.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import type { HeldEnvironment } from './environment.js';
import { HeldGrants } from './held-grants.js';
import { Publisher } from './publisher.js';
import { SessionRuns } from './session-runs.js';

/** The hold of a session, as those who work in it know it. */
export interface Tenure {
  /** Whether another run may begin here. Not while the session closes, and not once the gateway is ending. */
  readonly mayStart: boolean;
  /** Whether nobody here follows or uses the session. */
  readonly unfollowed: boolean;
  /** The callers here who wait for runs. */
  readonly results: {
    settle(runId: string, result: RunResult): void;
    fail(runId: string, error: GatewayError): void;
  };
  /** Called when a run begins to be under way here. */
  begins(): void;
  /** Gives the session up. @throws StoreError */
  letGo(): Promise<void>;
}

/**
 * A session while it is held here: the writer of its log, its runs, and everything that works in it. One is made each time that the session
 * is taken, and dropped as a whole. Work in it keeps this object across waits, and is refused once the hold is over.
 */
export class HeldSession {
  readonly ref: SessionRef;
  readonly id: string;
  readonly env: HeldEnvironment;
  readonly log: LogWriter;
  readonly tenure: Tenure;
  readonly runs: SessionRuns;
  readonly publisher: Publisher;
  readonly grants: HeldGrants;
  /** Sends on their way to the store, by their keys. */
  readonly accepting = new Map<string, Promise<unknown>>();
  #isOver = false;
  /** Made for apps that keep something as long as this is held. */
  #hold: AbortController | null = null;
  /** The last piece of work that reads records and then writes them. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(
    { ref, id }: { readonly ref: SessionRef; readonly id: string },
    log: LogWriter,
    env: HeldEnvironment,
    tenure: Tenure,
  ) {
    this.ref = ref;
    this.id = id;
    this.log = log;
    this.env = env;
    this.tenure = tenure;
    this.runs = new SessionRuns(this);
    this.publisher = new Publisher(this);
    this.grants = new HeldGrants(this);
  }

  get store(): Store {
    return this.env.store;
  }

  /** Whether the session is no longer held by this. */
  get over(): boolean {
    return this.#isOver;
  }

  /** Aborts once the session is no longer held by this. */
  get hold(): AbortSignal {
    this.#hold ??= new AbortController();
    return this.#hold.signal;
  }

  /** Does work that reads records and then writes them, one piece after the other: a bound of their number would not hold otherwise. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => {});
    return done;
  }

  /** Whether another run may begin. */
  get mayStart(): boolean {
    return !this.over && this.tenure.mayStart;
  }

  /** Ends the hold. Nothing more is written, and runs that have not ended are left to the next holder. */
  drop(): void {
    if (this.over) return;
    this.#isOver = true;
    this.runs.drop(this.log.view.cursor);
    this.log.abandon();
    this.#hold?.abort();
  }
}
