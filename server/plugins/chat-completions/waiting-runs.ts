import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Identity } from '../../auth/types.js';
import type { ChatRun } from './chat-run.js';

/** Bounds of what waits for callers. */
export interface WaitingLimits {
  /** How long a run waits for its caller's tools, in milliseconds. */
  readonly toolWaitMs: number;
  /** Runs that may wait for one user; a further one ends the oldest. */
  readonly perUser: number;
}

/** Which run a caller comes back to: one that waits for some of these calls, or that of a session. */
export interface WantedRun {
  readonly app?: string;
  readonly sessionId?: string | undefined;
  /** Calls that the caller has results of. */
  readonly callIds?: ReadonlySet<string>;
  /** Names of the caller's tools. */
  readonly clientTools?: ReadonlySet<string>;
}

/** Where runs wait. */
export interface WaitingDesk {
  add(identity: Identity, run: ChatRun): MaybePromise<void>;
  /** The first run of a caller that fits, which then waits no more. */
  take(identity: Identity, wanted: WantedRun): MaybePromise<ChatRun | null>;
  /** Ends the runs that nobody can come back to. Those of sessions that are kept wait on. */
  drain(): MaybePromise<void>;
  /** Resolves when what was abandoned has been put away. */
  settled(): Promise<void>;
}

/** Whether a run is the one that is wanted. */
export function fits(
  run: Pick<ChatRun, 'app' | 'sessionId'> & { readonly waitingFor: Iterable<string> },
  { app, sessionId, callIds }: WantedRun,
): boolean {
  if (app !== undefined && run.app !== app) return false;
  if (sessionId !== undefined && run.sessionId !== sessionId) return false;
  return !callIds || [...run.waitingFor].some((callId) => callIds.has(callId));
}

interface Entry {
  readonly run: ChatRun;
  readonly timer: NodeJS.Timeout;
}

/** Runs that wait for the results of their callers' tools, each reached by its own caller only. */
export class WaitingRuns implements WaitingDesk {
  readonly #limits: WaitingLimits;
  readonly #byOwner = new Map<string, Set<Entry>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  add(identity: Identity, run: ChatRun): void {
    const owner = ownerOf(identity);
    const { toolWaitMs, perUser } = this.#limits;
    const waiting = this.#byOwner.get(owner);
    const [oldest] = waiting ?? [];
    if (oldest && waiting!.size >= perUser) this.#abandon(owner, oldest);
    const timer = setTimeout(() => this.#abandon(owner, entry), toolWaitMs).unref();
    const entry = { run, timer };
    const entries = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, entries.add(entry));
  }

  take(identity: Identity, wanted: WantedRun): ChatRun | null {
    const owner = ownerOf(identity);
    for (const entry of this.#byOwner.get(owner) ?? []) {
      if (!fits(entry.run, wanted)) continue;
      this.#remove(owner, entry);
      return entry.run;
    }
    return null;
  }

  #remove(owner: string, entry: Entry): void {
    clearTimeout(entry.timer);
    const entries = this.#byOwner.get(owner);
    entries?.delete(entry);
    if (entries?.size === 0) this.#byOwner.delete(owner);
  }

  #abandon(owner: string, entry: Entry): void {
    this.#remove(owner, entry);
    const closing = entry.run.close('nobody brought the results of its tools').finally(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }

  drain(): void {
    for (const [owner, entries] of this.#byOwner)
      for (const entry of entries) {
        if (entry.run.ephemeral) this.#abandon(owner, entry);
        else this.#remove(owner, entry);
      }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

/** Whose a run is. */
export function ownerOf({ scope, userKey }: Identity): string {
  return `${scope}\n${userKey}`;
}
