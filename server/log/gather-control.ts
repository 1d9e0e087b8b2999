/** The load of a process since the last look, in shares of that time. */
export interface LoadLook {
  /** Time of the processor that it had. */
  readonly cpu: number;
  /** Time in which its event loop had nothing to do. */
  readonly idle: number;
}

/** Share of a core that pieces may take before they wait. The rest is for garbage and for bursts: beyond it everything gets late. */
const FULL = 0.78;
/** Share of idle time below which a process has more to do than it gets done, however little of the processor others leave it. */
const NO_IDLE = 0.03;
/** How much more the pieces wait after a look at a process that used a whole core more than it may, in milliseconds. */
const GAIN_MS = 20;
/** The most by which the wait changes after one look. */
const STEP_MS = 5;
/** The shortest wait that joins anything: a fast model says a piece each 20 ms. */
const PORTION_MS = 25;

/**
 * Decides how long pieces of answers wait, by what the process had of the processor. Up to `FULL` they do not; beyond it the wait grows by
 * small steps, until what is joined has brought the process back there, and falls by such steps. A process that is late because others have
 * the processor has idle time all the same: its pieces do not wait.
 *
 * A wait shorter than the time between two pieces joins nothing. So a short one is the average of groups that wait for a portion and
 * groups that do not wait, in turns.
 */
export class GatherControl {
  readonly #maxMs: number;
  #waitMs = 0;
  /** Time that groups which did not wait have left to the next ones, in milliseconds. */
  #owedMs = 0;

  /** @param maxMs The longest wait. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** The average wait, in milliseconds. */
  get waitMs(): number {
    return this.#waitMs;
  }

  /** How long a group waits, if it does. */
  get portionMs(): number {
    return Math.max(this.#waitMs, Math.min(PORTION_MS, this.#maxMs));
  }

  /** Whether the next group waits. */
  waits(): boolean {
    if (this.#waitMs === 0) return false;
    this.#owedMs += this.#waitMs;
    if (this.#owedMs < this.portionMs) return false;
    this.#owedMs -= this.portionMs;
    return true;
  }

  /** Takes a look at the process into account. */
  saw({ cpu, idle }: LoadLook): void {
    const load = idle < NO_IDLE ? Math.max(cpu, 1) : cpu;
    const step = Math.min(STEP_MS, Math.max(-STEP_MS, (load - FULL) * GAIN_MS));
    this.#waitMs = Math.min(this.#maxMs, Math.max(0, this.#waitMs + step));
    if (this.#waitMs === 0) this.#owedMs = 0;
  }

  /** Nothing is known of the process any more. */
  forget(): void {
    this.#waitMs = 0;
    this.#owedMs = 0;
  }
}
