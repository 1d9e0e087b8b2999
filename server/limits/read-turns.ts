import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Person } from '../auth/types.js';
import { LimitError } from '../limit-error.js';

/** Time that the reads of one caller may take of a turn of the event loop, in milliseconds. The turn belongs to all callers. */
const BUDGET_MS = 5;
/** Reads of one caller that wait, for each that may be under way. */
const WAITING = 32;

/** The reads of one caller. */
interface Lane {
  running: number;
  /** Reads that may be under way at once. */
  readonly most: number;
  /** Milliseconds of the present turn that were used. */
  spentMs: number;
  turn: number;
  readonly waiting: (() => void)[];
}

/**
 * Shares the event loop among those who read. A rate counts calls, and calls differ in cost; so a caller whose reads have taken up their time of a
 * turn, or of which many are under way, waits for a later turn, and others go on meanwhile.
 */
export class ReadTurns {
  readonly #atOnce: (person: Person) => number;
  readonly #lanes = new Map<string, Lane>();
  #turn = 0;
  #isArmed = false;

  /** @param atOnce Reads of a caller that may be under way at once. */
  constructor(atOnce: (person: Person) => number) {
    this.#atOnce = atOnce;
  }

  /** Runs a read in its turn, which is mostly now. @throws GatewayError `RATE_LIMITED` if too many wait already */
  run<Result>(person: Person, read: () => MaybePromise<Result>): MaybePromise<Result> {
    const lane = this.#laneOf(person);
    const { most } = lane;
    if (this.#isFree(lane)) return this.#start(person.pays.key, lane, read);
    if (lane.waiting.length >= most * WAITING)
      throw new LimitError('limits.readsAtOnce', {
        code: 'RATE_LIMITED',
        message: `You may have ${most} reads under way, and ${most * WAITING} that wait (limits.readsAtOnce)`,
        retryAfterMs: 1000,
      });
    return new Promise<void>((resolve) => {
      lane.waiting.push(resolve);
      this.#arm();
    }).then(() => this.#start(person.pays.key, lane, read, true));
  }

  #start<Result>(
    key: string,
    lane: Lane,
    read: () => MaybePromise<Result>,
    waited = false,
  ): MaybePromise<Result> {
    const { turn } = lane;
    const begun = performance.now();
    // One that waited was counted when it was let in.
    if (!waited) lane.running += 1;
    const end = (): void => {
      lane.running -= 1;
      // Later turns were spent waiting, not working.
      if (lane.turn === turn && this.#turn === turn) lane.spentMs += performance.now() - begun;
      if (lane.waiting.length > 0) this.#arm();
      else if (lane.running === 0 && lane.turn !== this.#turn) this.#lanes.delete(key);
    };
    this.#arm();
    let done: MaybePromise<Result>;
    try {
      done = read();
    } catch (error) {
      end();
      throw error;
    }
    if (!isPromise(done)) {
      end();
      return done;
    }
    return done.finally(end);
  }

  #isFree({ running, spentMs, waiting, most }: Lane): boolean {
    return waiting.length === 0 && running < most && spentMs < BUDGET_MS;
  }

  #laneOf(person: Person): Lane {
    const { key } = person.pays;
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = { running: 0, most: this.#atOnce(person), spentMs: 0, turn: this.#turn, waiting: [] };
      this.#lanes.set(key, lane);
    } else if (lane.turn !== this.#turn) {
      lane.turn = this.#turn;
      lane.spentMs = 0;
    }
    return lane;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => this.#next());
  }

  /** Begins a turn: lets in one waiting read of each caller, so that its time is known before the next one. */
  #next(): void {
    this.#isArmed = false;
    this.#turn += 1;
    for (const [key, lane] of this.#lanes) {
      lane.turn = this.#turn;
      lane.spentMs = 0;
      const next = lane.running < lane.most ? lane.waiting.shift() : undefined;
      if (next) {
        lane.running += 1;
        next();
        this.#arm();
      } else if (lane.running === 0) this.#lanes.delete(key);
    }
  }
}
