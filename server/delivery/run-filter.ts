import { type Cursor, parseCursor } from '../../shared/cursor.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { LogBatch } from '../log/batch.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { StoredEvent } from '../stores/stored.js';

/** A run that is followed to its end. */
export interface AwaitedRun {
  readonly runId: string;
  /** The outcome of the run with the place of its end. A reader at or behind that place has nothing to wait for. */
  readonly result: Promise<Pick<RunResult, 'cursor'>>;
  /** Called when every event of the run was sent. */
  ended(): void;
}

/** Picks the events of one run out of a session's, and finds the last one. */
export class RunFilter {
  readonly #run: AwaitedRun;
  #end: Cursor | null = null;
  /** Set if the end of the run will never be known: the store has no record of it any more. */
  isUnknown = false;

  /** @param known Called when the end of the run is known, or it is clear that it never will be. */
  constructor(run: AwaitedRun, known: () => void) {
    this.#run = run;
    run.result.then(
      ({ cursor }) => {
        this.#end = parseCursor(cursor);
        known();
      },
      () => {
        this.isUnknown = true;
        known();
      },
    );
  }

  /** Whether a whole batch belongs to the run. */
  isWhole(batch: LogBatch): boolean {
    return batch.runId === this.#run.runId;
  }

  of(events: readonly StoredEvent[]): readonly StoredEvent[] {
    return events.filter((event) => event.runId === this.#run.runId);
  }

  /** Whether the run ends among these events. */
  endsIn(events: readonly StoredEvent[]): boolean {
    return events.some((event) => event.type === 'message_end' && event.runId === this.#run.runId);
  }

  /** Whether the run ended at or before the reader's place, or in another conversation. */
  isBehind(log: ReadableLog | null, after: number): boolean {
    const end = this.#end;
    return end !== null && (log?.ref.epoch !== end.epoch || after >= end.seq);
  }

  /** Tells that every event of the run was sent. */
  ended(): void {
    this.#run.ended();
  }
}
