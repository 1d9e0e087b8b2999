import { type Cursor, parseCursor } from '../../shared/cursor.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { LogBatch } from '../log/batch.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { StoredEvent } from '../stores/store.js';

/** A run that is followed to its end. */
export interface FollowedRun {
  readonly runId: string;
  /** Its outcome, with the place of its end: who starts there or behind has nothing to wait for. */
  readonly result: Promise<Pick<RunResult, 'cursor'>>;
  /** Everything of it was sent. */
  ended(): void;
}

/** What of a session's events is one run's, and where they end. */
export class RunFilter {
  readonly #run: FollowedRun;
  #end: Cursor | null = null;
  /** Nobody will say where the run has ended: the store has no record of it any more. */
  isUnknown = false;

  /** @param known Called when it is known where the run has ended, or that it never will be. */
  constructor(run: FollowedRun, known: () => void) {
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

  /** Whether all of a batch is the run's. */
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

  /** Whether it has ended where its reader is, or before that, or in another conversation. */
  isBehind(log: ReadableLog | null, after: number): boolean {
    const end = this.#end;
    return end !== null && (log?.ref.epoch !== end.epoch || after >= end.seq);
  }

  /** Everything of the run was sent. */
  ended(): void {
    this.#run.ended();
  }
}
