import type { Identity } from '../../auth/types.js';
import type { ChatRun } from './chat-run.js';

/** Bounds of what waits for callers. */
export interface WaitingLimits {
  /** How long a run waits for its caller's tools, in milliseconds. */
  readonly toolWaitMs: number;
  /** Runs that may wait for one user; a further one ends the oldest. */
  readonly perUser: number;
}

interface Entry {
  readonly run: ChatRun;
  readonly timer: NodeJS.Timeout;
}

/** Runs that wait for the results of their callers' tools, each reached by its own caller only. */
export class WaitingRuns {
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

  /** The first run of a caller that fits, which then waits no more. */
  take(identity: Identity, fits: (run: ChatRun) => boolean): ChatRun | null {
    const owner = ownerOf(identity);
    for (const entry of this.#byOwner.get(owner) ?? []) {
      if (!fits(entry.run)) continue;
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

  /** Ends the runs that nobody can come back to. Those of sessions that are kept wait on. */
  drain(): void {
    for (const [owner, entries] of this.#byOwner)
      for (const entry of entries) {
        if (entry.run.ephemeral) this.#abandon(owner, entry);
        else this.#remove(owner, entry);
      }
  }

  /** Resolves when what was abandoned has been put away. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

function ownerOf({ scope, userKey }: Identity): string {
  return `${scope}\n${userKey}`;
}
