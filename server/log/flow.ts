import { GatewayError } from '../../shared/errors.js';
import { notTried } from './unavailable.js';

const FIRST_MS = 50;
const LONGEST_MS = 1000;

/** The wait of a writer for its store. */
interface Pause {
  /** The error of the last failed write. */
  readonly error: unknown;
  readonly ms: number;
  /** Set until the write is tried again. */
  readonly timer: NodeJS.Timeout | null;
}

/** The stage of a log's writer. */
type FlowStage =
  | { readonly name: 'flowing' }
  /** The store surely has nothing of what comes next, which needs a write. It is tried again. */
  | { readonly name: 'waiting'; readonly pause: Pause }
  /** The store has not said whether it has a group. The group is sent again unchanged until that is known. */
  | { readonly name: 'doubtful'; readonly pause: Pause; readonly group: object }
  /** The close of the session is stored. Nothing comes behind it. */
  | { readonly name: 'closed' }
  /** The log cannot be written any more. */
  | { readonly name: 'broken'; readonly error: unknown };

type FlowName = FlowStage['name'];

/** The stages that may follow one. */
const NEXT: { readonly [From in FlowName]: ReadonlySet<FlowName> } = {
  flowing: new Set(['waiting', 'doubtful', 'closed', 'broken']),
  waiting: new Set(['waiting', 'doubtful', 'flowing', 'broken']),
  // Only an answer ends a doubt.
  doubtful: new Set(['doubtful', 'flowing', 'broken']),
  closed: new Set(),
  broken: new Set(),
};

const FLOWING: FlowStage = { name: 'flowing' };

/** Whether a log can be written: one stage at a time. Only its writer moves it on. */
export class Flow {
  readonly #again: () => void;
  #stage: FlowStage = FLOWING;
  // Made on first use: nearly no log ever waits.
  #waiters: (() => void)[] | null = null;

  /** @param again Called when a write that failed is to be tried again */
  constructor(again: () => void) {
    this.#again = again;
  }

  /** Whether events are taken: written at once, or kept for the store. */
  get takes(): boolean {
    return this.#stage === FLOWING || this.waits;
  }

  /** Whether what comes next waits for the store, also while a try is in progress. */
  get waits(): boolean {
    return 'pause' in this.#stage;
  }

  /** Whether the next try is not due yet. */
  get pauses(): boolean {
    return 'pause' in this.#stage && this.#stage.pause.timer !== null;
  }

  get closed(): boolean {
    return this.#stage.name === 'closed';
  }

  get broken(): boolean {
    return this.#stage.name === 'broken';
  }

  /** Whether it is unknown if the store has this group. */
  doubts(group: object): boolean {
    return this.#stage.name === 'doubtful' && this.#stage.group === group;
  }

  /** The error for a group that is not taken; null if it is. @param refusable Whether a caller would rather be refused than wait */
  refusal(refusable = false): GatewayError | null {
    const stage = this.#stage;
    switch (stage.name) {
      case 'flowing':
        return null;
      case 'waiting':
      case 'doubtful':
        return refusable ? notTried(stage.pause.error) : null;
      case 'closed':
        return new GatewayError({ code: 'SESSION_CLOSED' });
      case 'broken':
        return notTried(stage.error);
    }
  }

  /** Waits after a failed write, longer each time. @param group The one that the store may have */
  waitFor(error: unknown, group: object | null): void {
    const stage = this.#stage;
    const ms = 'pause' in stage ? Math.min(LONGEST_MS, stage.pause.ms * 2) : FIRST_MS;
    const pause: Pause = { error, ms, timer: setTimeout(() => this.#try(), ms) };
    this.#become(group ? { name: 'doubtful', pause, group } : { name: 'waiting', pause });
  }

  /** The store was written, or nothing that is left needs it. */
  resume(): void {
    if (this.waits) this.#become(FLOWING);
  }

  close(): void {
    this.#become({ name: 'closed' });
  }

  break(error: unknown): void {
    this.#become({ name: 'broken', error });
  }

  /** Resolves when no write waits. */
  over(): Promise<void> {
    if (!this.waits) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters ??= [];
      this.#waiters.push(resolve);
    });
  }

  #try(): void {
    const stage = this.#stage as Extract<FlowStage, { readonly pause: Pause }>;
    this.#become({ ...stage, pause: { ...stage.pause, timer: null } });
    this.#again();
  }

  #become(next: FlowStage): void {
    const stage = this.#stage;
    if (!NEXT[stage.name].has(next.name))
      throw new Error(`A log that is ${stage.name} cannot become ${next.name}`);
    this.#stage = next;
    if ('pause' in next) return;
    if ('pause' in stage && stage.pause.timer) clearTimeout(stage.pause.timer);
    const waiters = this.#waiters ?? [];
    this.#waiters = null;
    for (const waiter of waiters) waiter();
  }
}
