import { keyOf } from '../ref-key.js';
import type {
  Acquired,
  AcquireOptions,
  AppendOptions,
  AppendResult,
  EventRecord,
  LogRef,
  SessionRef,
} from '../store.js';

interface HeldLog {
  readonly log: LogRef;
  readonly holder: string;
  readonly term: number;
  /** The last batch that was answered, and the place of its last event. */
  batch: number;
  last: number;
  /** What was sent last cannot be told from what was written, if it was. */
  isUnclear: boolean;
  /** The process that keeps the store was started again, and has not said whether it can go on with it. */
  isToTake: boolean;
  /** It cannot. */
  isGone: boolean;
}

/** The logs that are held over a line, as far as it takes to go on with them where the process that keeps the store was started again. */
export class HeldLogs {
  readonly #logs = new Map<string, HeldLog>();

  taken(ref: SessionRef, holder: string, acquired: Acquired): void {
    if (acquired.kind !== 'acquired') return;
    const { scope, app, name } = ref;
    const { epoch, term, head } = acquired.head;
    const log = { scope, app, name, epoch };
    const none = { batch: 0, last: head, isUnclear: false, isToTake: false, isGone: false };
    this.#logs.set(keyOf(ref), { log, holder, term, ...none });
  }

  /** A batch is sent. @returns Whether its log has gone */
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
    if (result.duplicate || result.repeated || result.stale) return;
    Object.assign(held, { batch, last: result.last });
    if (close || erase !== undefined) this.ended(log, term);
  }

  ended(ref: SessionRef, term: number): void {
    if (this.#find(ref, term)) this.#logs.delete(keyOf(ref));
  }

  clear(): void {
    this.#logs.clear();
  }

  /** The line stands. @param isOther Whether another process answers, by which each is taken again as it was held */
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
        // It is tried again over the next line.
        () => {},
      );
    }
  }

  #find(ref: SessionRef, term: number): HeldLog | undefined {
    const held = this.#logs.get(keyOf(ref));
    return held?.term === term ? held : undefined;
  }
}
