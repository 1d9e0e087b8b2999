import { reduce, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import type { Checkpoint, Store, StoredEvent } from '../stores/store.js';
import { parseEvent } from './entry.js';
import type { LogView } from './log-view.js';
import type { ReadableLog } from './readable-log.js';
import { showing } from './showing.js';

/** How much of a log is kept. Whatever is exceeded first cuts the oldest events; messages are never cut. */
export interface Retention {
  readonly events: number;
  readonly bytes: number;
  readonly ageMs: number;
}

// Cutting costs a pass over what is cut, so it waits until a tenth has gathered and then makes that much room.
const SLACK = 0.1;
const PAGE = { events: 1000, bytes: 1 << 20 };

/** What a cut drops, and what is kept instead. */
interface Cut {
  readonly checkpoint: Checkpoint;
  /** The messages completed by what is dropped. */
  readonly messages: readonly Message[];
  /** Size of what is dropped, in characters. */
  readonly size: number;
}

export interface LogCutterOptions {
  /** The writer's. */
  readonly term: number;
  readonly retention: Retention;
  /** The time by which events age, in milliseconds since the epoch. */
  readonly now: () => number;
  /** A cut was not made; a later one will be. */
  failed(error: unknown): void;
}

/** Drops the oldest events of a log once there are too many, behind a checkpoint of their fold. */
export class LogCutter {
  readonly #log: LogView;
  readonly #store: Store;
  readonly #options: LogCutterOptions;
  #cutting: Promise<void> | null = null;
  /** Size of what a cut was to drop that failed, and that the store may have made. */
  #inDoubt: number | null = null;

  constructor(log: LogView, store: Store, options: LogCutterOptions) {
    this.#log = log;
    this.#store = store;
    this.#options = options;
  }

  /** Resolves when the cut that is on its way has ended. */
  get cutting(): Promise<void> | null {
    return this.#cutting;
  }

  /** Cuts if there is enough to be dropped to be worth it. */
  trim(): MaybePromise<void> {
    const { events, bytes } = this.#options.retention;
    const { head, first, range } = this.#log;
    if (head - first + 1 > events * (1 + SLACK) || range.chars > bytes * (1 + SLACK)) return this.#cut();
  }

  /** Cuts what has become too old. */
  expire(): MaybePromise<void> {
    if (this.#cutting || this.#log.head < this.#log.first) return;
    return andThen(this.#oldest(), (ts) => (ts < this.#oldestAllowed() ? this.#cut() : undefined));
  }

  #oldestAllowed(): number {
    return this.#options.now() - this.#options.retention.ageMs;
  }

  #oldest(): MaybePromise<number> {
    const { range, first } = this.#log;
    if (range.oldestAt !== null) return range.oldestAt;
    return andThen(this.#log.read(first - 1, 1, 1), ([oldest]) => {
      range.oldestAt = oldest?.ts ?? null;
      return oldest?.ts ?? Number.POSITIVE_INFINITY;
    });
  }

  #cut(): MaybePromise<void> {
    if (this.#cutting) return;
    const { failed } = this.#options;
    try {
      const result = andThen(this.#settleDoubt(), () =>
        andThen(this.#plan(), (cut) => (cut ? this.#make(cut) : undefined)),
      );
      if (!isPromise(result)) return;
      this.#cutting = result.catch(failed).finally(() => {
        this.#cutting = null;
      });
      return this.#cutting;
    } catch (error) {
      failed(error);
    }
  }

  /** Works out what is to be dropped; null when there is nothing. */
  #plan(): MaybePromise<Cut | null> {
    const { events: maxEvents, bytes: maxChars } = this.#options.retention;
    const { head, first, range } = this.#log;
    const { base } = range;
    const oldest = this.#oldestAllowed();
    let events = head - first + 1 - maxEvents;
    let chars = range.chars - maxChars;
    const drops = (event: StoredEvent): boolean => {
      if (events <= 0 && chars <= 0 && event.ts >= oldest) return false;
      events -= 1;
      chars -= event.body.length;
      return true;
    };
    const folded = foldWhile(this.#log, base.seq, base.state, drops);
    return andThen(folded, ({ state, seq, size }) => {
      if (seq < first) return null;
      return { checkpoint: { seq, state: showing(state, []) }, messages: state.messages, size };
    });
  }

  #make({ checkpoint, messages, size }: Cut): MaybePromise<void> {
    // Before the store answers, so that whoever reads a page that begins too late finds out why.
    const undo = this.#log.range.move(checkpoint, size);
    const failed = (error: unknown): never => {
      undo();
      this.#inDoubt = size;
      throw error;
    };
    const done = (): void => this.#log.forgetMessages(checkpoint);
    try {
      const result = this.#store.cut(this.#log.ref, checkpoint, messages, this.#options.term);
      return isPromise(result) ? result.then(done, failed) : done();
    } catch (error) {
      return failed(error);
    }
  }

  /** After a cut that failed: finds out whether the store has made it nevertheless. */
  #settleDoubt(): MaybePromise<void> {
    const size = this.#inDoubt;
    if (size === null) return;
    return andThen(this.#store.checkpoint(this.#log.ref), (kept) => {
      this.#inDoubt = null;
      const { range } = this.#log;
      if (!kept || kept.seq <= range.base.seq) return;
      range.move(kept, size);
      this.#log.forgetMessages(kept);
    });
  }
}

/**
 * Folds stored events after `seq` as long as the predicate takes them and the store has them: `seq` in the answer is the last one.
 */
export function foldWhile(
  log: Pick<ReadableLog, 'read'>,
  seq: number,
  state: SessionState,
  takes: (event: StoredEvent) => boolean,
  size = 0,
): MaybePromise<{ state: SessionState; seq: number; size: number }> {
  return andThen(log.read(seq, PAGE.events, PAGE.bytes), (page) => {
    for (const event of page) {
      if (event.seq !== seq + 1) return { state, seq, size };
      if (!takes(event)) return { state, seq, size };
      state = reduce(state, parseEvent(event));
      seq = event.seq;
      size += event.body.length;
    }
    return page.length === 0 ? { state, seq, size } : foldWhile(log, seq, state, takes, size);
  });
}
