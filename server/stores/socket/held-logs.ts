import type { AppendOptions, AppendResult, EventRecord } from '../append.js';
import { keyOf } from '../ref-key.js';
import type { Acquired, AcquireOptions } from '../store.js';
import type { LogRef, SessionRef } from '../stored.js';

interface ServedLog {
  readonly log: LogRef;
  readonly holder: string;
  readonly term: number;
  /** Number of the last answered batch, and the place of its last event. */
  batch: number;
  last: number;
  /** Whether the batch under way leaves no trace in the log, so that a restarted store cannot tell if it was written. */
  isUnclear: boolean;
  /** Whether a restarted store has not yet said that it can continue the log. */
  isToTake: boolean;
  /** Whether the restarted store cannot continue the log. */
  isGone: boolean;
}

/** The logs that this process holds over a line, with the facts needed to continue them after a restart of the store's process. */
export class ServedLogs {
  readonly #logs = new Map<string, ServedLog>();

  taken(ref: SessionRef, holder: string, acquired: Acquired): void {
    if (acquired.kind !== 'acquired') return;
    const { scope, app, name } = ref;
    const { epoch, term, head } = acquired.head;
    const log = { scope, app, name, epoch };
    const none = { batch: 0, last: head, isUnclear: false, isToTake: false, isGone: false };
    this.#logs.set(keyOf(ref), { log, holder, term, ...none });
  }

  /** Notes that a batch is sent. @returns Whether the log cannot be continued */
  sends(log: LogRef, events: readonly EventRecord[], { term, records }: AppendOptions): boolean {
    const held = this.#find(log, term);
    if (!held) return false;
    held.isUnclear = events.length === 0 && records !== undefined;
    return held.isGone;
  }

  sent(log: LogRef, { term, batch, close, erase }: AppendOptions, result: AppendResult): void {
    const held = this.#find(log, term);
    if (!held) return;
    held.isUnclear = false;
    if (result.duplicate || result.stale) return;
    Object.assign(held, { batch, last: result.last });
    if (close || erase !== undefined) this.ended(log, term);
  }

  ended(ref: SessionRef, term: number): void {
    if (this.#find(ref, term)) this.#logs.delete(keyOf(ref));
  }

  clear(): void {
    this.#logs.clear();
  }

  /** Called when the line stands. @param isOther Whether a restarted process answers, from which each log must be taken again */
  stands(isOther: boolean, take: (ref: SessionRef, options: AcquireOptions) => Promise<Acquired>): void {
    for (const held of this.#logs.values()) {
      held.isToTake ||= isOther;
      const { log, holder, term, batch, last, isUnclear } = held;
      if (held.isToTake && isUnclear) held.isGone = true;
      if (!held.isToTake || held.isGone) continue;
      take(log, { holder, again: { epoch: log.epoch, term, batch, last } }).then(
        ({ kind }) => {
          held.isToTake = false;
          held.isGone = kind === 'absent';
        },
        // The next line tries again.
        () => {},
      );
    }
  }

  #find(ref: SessionRef, term: number): ServedLog | undefined {
    const held = this.#logs.get(keyOf(ref));
    return held?.term === term ? held : undefined;
  }
}
