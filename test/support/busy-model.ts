import type { OnBusy } from '../../shared/events.js';

interface ModelRun {
  readonly id: number;
  readonly onBusy: OnBusy;
}

/** What a session should do with messages, told in thirty lines. */
export class BusyModel {
  active: ModelRun | null = null;
  waiting: ModelRun[] = [];
  /** How each run ended. */
  readonly ends = new Map<number, string>();
  readonly started: number[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The position of an accepted message, or the code it is refused with. */
  send(id: number, onBusy: OnBusy): number | string {
    if (this.active && onBusy === 'reject') return 'SESSION_BUSY';
    if (this.active && this.waiting.length >= this.#limit) return 'QUEUE_FULL';
    const run = { id, onBusy };
    if (!this.active) {
      this.#start(run);
      return 0;
    }
    if (onBusy === 'interrupt') {
      this.waiting.unshift(run);
      this.#end('superseded');
      return 0;
    }
    const at = onBusy === 'steer' ? this.waiting.findIndex((other) => other.onBusy !== 'steer') : -1;
    const index = at < 0 ? this.waiting.length : at;
    this.waiting.splice(index, 0, run);
    return index + 1;
  }

  /** The active run takes up its steering messages. */
  steer(): number[] {
    const taken = this.active ? this.waiting.filter(({ onBusy }) => onBusy === 'steer') : [];
    this.waiting = this.waiting.filter((run) => !taken.includes(run));
    for (const { id } of taken) this.ends.set(id, 'steered');
    return taken.map(({ id }) => id);
  }

  finish(): void {
    this.#end('end');
  }

  /** Without an id the active run. */
  abort(id?: number): boolean {
    if (id === undefined || this.active?.id === id) {
      if (!this.active) return false;
      this.#end('aborted');
      return true;
    }
    const found = this.waiting.some((run) => run.id === id);
    this.waiting = this.waiting.filter((run) => run.id !== id);
    if (found) this.ends.set(id, 'aborted');
    return found;
  }

  #end(reason: string): void {
    if (this.active) this.ends.set(this.active.id, reason);
    this.active = null;
    const next = this.waiting.shift();
    if (next) this.#start(next);
  }

  #start(run: ModelRun): void {
    this.active = run;
    this.started.push(run.id);
  }
}
