import type { GatewayError } from '../../shared/errors.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { LogWriter } from '../log/log-writer.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import type { HeldEnvironment } from './environment.js';
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
  /** Sends on their way to the store, by their keys. */
  readonly accepting = new Map<string, Promise<unknown>>();
  #isOver = false;

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
  }

  get store(): Store {
    return this.env.store;
  }

  /** Whether the session is no longer held by this. */
  get over(): boolean {
    return this.#isOver;
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
  }
}
