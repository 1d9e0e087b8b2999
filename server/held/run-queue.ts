import { GatewayError } from '../../shared/errors.js';
import type { OnBusy } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { LimitError } from '../limit-error.js';
import type { LiveRun } from '../runs/live-run.js';

/** The runs of a session: one active, the others in order. Steering messages stand before ordinary ones. */
export class RunQueue {
  readonly #limit: number;
  readonly #tenure: { begins(): void };
  active: LiveRun | null = null;
  #waiting: LiveRun[] = [];

  /**
   * @param limit Longest queue, not counting the active run
   * @param tenure Told of each run
   */
  constructor(limit: number, tenure: { begins(): void }) {
    this.#limit = limit;
    this.#tenure = tenure;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get busy(): boolean {
    return this.active !== null || this.#waiting.length > 0;
  }

  /** @throws GatewayError `SESSION_BUSY` or `QUEUE_FULL` if a message can't be accepted now. */
  check(onBusy: OnBusy): void {
    if (!this.busy) return;
    if (onBusy === 'reject') {
      const runId = (this.active ?? this.#waiting[0])?.id;
      throw new GatewayError({ code: 'SESSION_BUSY', details: { runId } });
    }
    if (this.#waiting.length >= this.#limit) {
      throw new LimitError('limits.queueLength', {
        code: 'QUEUE_FULL',
        message: `The session already has ${this.#limit} messages waiting; send again when one of them is answered`,
        retryAfterMs: 1000,
      });
    }
  }

  /** Puts a run in its place. */
  add(run: LiveRun): void {
    const { onBusy } = run.request;
    const active = this.active?.doomed ? null : this.active;
    let index = this.#waiting.length;
    if (onBusy === 'interrupt') index = 0;
    else if (onBusy === 'steer') {
      // The active run may be another one by the time this run is stored.
      const ordinary = this.#waiting.findIndex(
        (other) => other.request.onBusy !== 'steer' && !interrupts(other),
      );
      if (ordinary >= 0 && (active || interrupts(this.#waiting[0]!))) index = ordinary;
    }
    this.#waiting.splice(index, 0, run);
    this.#tenure.begins();
  }

  /**
   * Number of runs ahead of a run, according to the log: all open runs, less those that this queue puts behind it. The log may lag behind
   * this queue by a start or end that is on its way.
   */
  before(run: LiveRun, { run: active, queue }: SessionState): number {
    const place = this.#waiting.indexOf(run);
    const isBehind = (runId: string): boolean => this.#waiting.findIndex(({ id }) => id === runId) > place;
    const before = place < 0 ? queue : queue.filter(({ runId }) => !isBehind(runId));
    return (active ? 1 : 0) + before.length;
  }

  /** Puts a run that a former process accepted at the end. The order comes from the log. */
  restore(run: LiveRun): void {
    this.#waiting.push(run);
    this.#tenure.begins();
  }

  remove(run: LiveRun): void {
    if (this.active === run) this.active = null;
    else this.#waiting = this.#waiting.filter((other) => other !== run);
  }

  /** Makes a run the active one. Its start is stored. */
  activate(run: LiveRun): void {
    this.#waiting = this.#waiting.filter((other) => other !== run);
    this.active = run;
    run.state = 'active';
    this.#tenure.begins();
  }

  /** Makes the next accepted run the active one. */
  advance(): LiveRun | null {
    const next = this.#waiting[0];
    if (this.active || !next || next.state !== 'queued') return null;
    this.#waiting.shift();
    this.active = next;
    next.state = 'active';
    return next;
  }

  find(runId: string): LiveRun | null {
    if (this.active?.id === runId) return this.active;
    return this.#waiting.find((run) => run.id === runId) ?? null;
  }

  /** The active run, and those that may be active by the time the store has every append. */
  mayRun(): readonly LiveRun[] {
    return this.all().filter((run) => run === this.active || run.state === 'accepting');
  }

  /** The accepted messages that steer the active run. */
  steering(): readonly LiveRun[] {
    return this.#waiting.filter((run) => run.request.onBusy === 'steer' && run.state === 'queued');
  }

  /** All runs but one, the last first. */
  others(run: LiveRun): readonly LiveRun[] {
    return this.all()
      .filter((other) => other !== run)
      .reverse();
  }

  all(): readonly LiveRun[] {
    return this.active ? [this.active, ...this.#waiting] : [...this.#waiting];
  }
}

/** Whether a run is about to take the place of the active one. */
const interrupts = ({ state, request }: LiveRun): boolean =>
  state === 'accepting' && request.onBusy === 'interrupt';
