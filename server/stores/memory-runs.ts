import type { NewRun } from './append.js';
import type { LeftRun, RunName, RunRecord, StepRecord } from './stored.js';

interface KeptRun {
  readonly record: RunRecord;
  /** Time of the run's end, in milliseconds since the epoch. */
  readonly endedAt: number | null;
}

const isOpen = ({ request }: RunRecord): boolean => request !== undefined;

/** The runs of one session that the memory store keeps. */
export class MemoryRuns {
  /** In the order of their acceptance. */
  readonly #runs = new Map<string, KeptRun>();
  /** Ids by keys. */
  #byKey: Map<string, string> | null = null;
  /** Steps of open runs, by run and number. */
  #steps: Map<string, Map<number, StepRecord>> | null = null;
  #open = 0;

  /** The number of kept runs. */
  get size(): number {
    return this.#runs.size;
  }

  /** The number of runs that have not ended. */
  get openCount(): number {
    return this.#open;
  }

  get open(): readonly LeftRun[] {
    const open = [...this.#runs.values()].map(({ record }) => record).filter(isOpen);
    return open.map((record) => {
      const steps = this.#steps?.get(record.runId);
      return steps ? { ...record, steps: [...steps.values()].sort((a, b) => a.number - b.number) } : record;
    });
  }

  begin({ runId, key, hash, request }: NewRun, place: Pick<RunRecord, 'epoch' | 'accepted'>): void {
    const keyed = key === undefined ? {} : { key, hash: hash ?? '' };
    this.#runs.set(runId, { record: { runId, ...keyed, ...place, request }, endedAt: null });
    this.#open += 1;
    if (key === undefined) return;
    this.#byKey ??= new Map();
    this.#byKey.set(key, runId);
  }

  /** Keeps steps of open runs, and ignores others. */
  keep(steps: readonly StepRecord[]): void {
    for (const step of steps) {
      const run = this.#runs.get(step.runId);
      if (!run || !isOpen(run.record)) continue;
      this.#steps ??= new Map();
      const kept = this.#steps.get(step.runId) ?? new Map<number, StepRecord>();
      this.#steps.set(step.runId, kept.set(step.number, step));
    }
  }

  end(runId: string, result?: RunRecord['result']): void {
    const run = this.#runs.get(runId);
    if (!run || !isOpen(run.record)) return;
    const { request: _, runId: __, ...record } = run.record;
    const ended = { runId, ...record, ...(result && { result }) };
    this.#runs.set(runId, { record: ended, endedAt: Date.now() });
    this.#steps?.delete(runId);
    this.#open -= 1;
  }

  endAll(): void {
    if (this.#open > 0) for (const { runId } of this.open) this.end(runId);
  }

  find(name: RunName): RunRecord | null {
    const runId = 'runId' in name ? name.runId : this.#byKey?.get(name.key);
    return (runId !== undefined && this.#runs.get(runId)?.record) || null;
  }

  /** Drops runs that ended before a time. */
  expire(before: number): void {
    const old = [...this.#runs.values()].filter(({ endedAt }) => endedAt !== null && endedAt < before);
    for (const { record } of old) {
      this.#runs.delete(record.runId);
      if (record.key !== undefined) this.#byKey?.delete(record.key);
    }
  }
}
