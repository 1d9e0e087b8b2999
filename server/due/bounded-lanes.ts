/** Weight of the latest duration in the mean. */
const WEIGHT = 0.1;
const LONGEST_MS = 300_000;
/** Time for which a receiver that did not answer has one lane, in milliseconds. */
const STALLED_MS = 60_000;
/** Bounds that are kept before those that are not in use are dropped. */
const KEPT = 1000;

/** One bound of work at a time. */
export interface LaneBound {
  /** Name of those whom it bounds together. */
  readonly name: string;
  readonly most: number;
  /** Whether they have one lane for a time after an attempt without an answer. */
  readonly stalls?: boolean;
}

/** Lanes that a piece of work has. */
export interface TakenLanes {
  /** Gives them back. @param isLate Whether the receiver did not answer in time */
  leave(isLate: boolean): void;
}

/**
 * Bounds work at a time. Nothing waits here: what is refused is told when to come again, estimated from recent durations and earlier refusals.
 */
export class BoundedLanes {
  readonly #all = new Map<string, BoundLanes>();

  /** The number of bounds that are kept. */
  get size(): number {
    return this.#all.size;
  }

  /** Takes a lane of each bound. Without a free one returns the milliseconds until the work is to come again. */
  enter(bounds: readonly LaneBound[]): TakenLanes | number {
    const all = bounds.map((bound) => this.#lanesOf(bound));
    const full = all.find((lanes) => !lanes.isFree);
    if (full) return full.later();
    const begun = performance.now();
    for (const lanes of all) lanes.busy += 1;
    return {
      leave: (isLate) => {
        for (const lanes of all) lanes.leave(performance.now() - begun, isLate);
      },
    };
  }

  #lanesOf(bound: LaneBound): BoundLanes {
    const known = this.#all.get(bound.name);
    if (known) return known;
    if (this.#all.size >= KEPT)
      for (const [name, lanes] of this.#all) if (lanes.isIdle) this.#all.delete(name);
    const lanes = new BoundLanes(bound);
    this.#all.set(bound.name, lanes);
    return lanes;
  }
}

/** The lanes of one bound. */
class BoundLanes {
  readonly #bound: LaneBound;
  busy = 0;
  #meanMs = 1000;
  /** The time when the last refused work is to come again, in monotonic milliseconds. */
  #lastAt = 0;
  #stalledUntil = 0;

  constructor(bound: LaneBound) {
    this.#bound = bound;
  }

  get isFree(): boolean {
    return this.busy < this.#most;
  }

  get isIdle(): boolean {
    return this.busy === 0 && performance.now() >= Math.max(this.#lastAt, this.#stalledUntil);
  }

  get #most(): number {
    return performance.now() < this.#stalledUntil ? 1 : this.#bound.most;
  }

  leave(ms: number, isLate: boolean): void {
    this.busy -= 1;
    this.#meanMs += WEIGHT * (ms - this.#meanMs);
    if (this.#bound.stalls) this.#stalledUntil = isLate ? performance.now() + STALLED_MS : 0;
  }

  /** Milliseconds until refused work is to come again. */
  later(): number {
    const now = performance.now();
    const first = now + Math.max(100, this.#meanMs);
    this.#lastAt = Math.min(Math.max(this.#lastAt, first) + this.#meanMs / this.#most, now + LONGEST_MS);
    return this.#lastAt - now;
  }
}
