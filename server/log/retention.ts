import { isDelta } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Store } from '../stores/store.js';
import type { Checkpoint, MessageRow, StoredEvent } from '../stores/stored.js';
import { parseEvent } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import type { LogView } from './log-view.js';
import { placed } from './message-places.js';
import type { ReadableLog } from './readable-log.js';
import { showing } from './showing.js';
import { withVersions } from './versions.js';

/** Bounds of a log. The first bound that is exceeded cuts the oldest events. Messages are never cut. */
export interface Retention {
  readonly events: number;
  readonly bytes: number;
  readonly ageMs: number;
}

// A cut takes a pass over the events that it drops, so it waits until a tenth too much has gathered.
const SLACK = 0.1;
/** Largest number that is counted down: a small integer costs V8 no memory of its own. */
const MOST = 2 ** 29;
const PAGE = { events: 1000, bytes: 1 << 20 };

/** A planned cut. */
interface Cut {
  readonly checkpoint: Checkpoint;
  /** The messages that the dropped events complete. */
  readonly messages: readonly MessageRow[];
  /** Size of the dropped events, in characters. */
  readonly size: number;
}

/** How much more may be kept before the bound is exceeded by the slack. */
const spare = (bound: number, kept: number): number => Math.floor(Math.min(MOST, bound * (1 + SLACK) - kept));

export interface LogCutterOptions {
  /** The term of the writer. */
  readonly term: number;
  readonly retention: Retention;
  /** The clock for ageing, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when a cut failed. It will be tried again. */
  failed(error: unknown): void;
}

/** Drops the oldest events of a log once there are too many, and keeps a checkpoint of their fold. */
export class LogCutter {
  readonly #log: LogView;
  readonly #store: Store;
  readonly #options: LogCutterOptions;
  /** Number of events and characters that may still be committed before a cut can be due. */
  #spareEvents = 0;
  #spareChars = 0;
  #cutting: Promise<void> | null = null;
  /** The cut that the store is making. */
  #making: Promise<void> | null = null;
  /** Size of a cut that failed here but that the store may have made. */
  #inDoubt: number | null = null;

  constructor(log: LogView, store: Store, options: LogCutterOptions) {
    this.#log = log;
    this.#store = store;
    this.#options = options;
    log.settleCut = () => this.#settle();
  }

  /** Resolves when the cut in progress has ended. */
  get cutting(): Promise<void> | null {
    return this.#cutting;
  }

  /** Counts committed events, and cuts once there is enough to drop. */
  grown(events: number, chars: number): void {
    this.#spareEvents -= events;
    this.#spareChars -= chars;
    if (this.#spareEvents >= 0 && this.#spareChars >= 0) return;
    const { retention } = this.#options;
    const { head, first, range } = this.#log;
    this.#spareEvents = spare(retention.events, head - first + 1);
    this.#spareChars = spare(retention.bytes, range.chars);
    if (this.#spareEvents < 0 || this.#spareChars < 0) void this.#cut();
  }

  /** Cuts events that have become too old. */
  async expire(): Promise<void> {
    if (this.#cutting || this.#log.head < this.#log.first) return;
    if ((await this.#oldest()) < this.#oldestAllowed()) await this.#cut();
  }

  #oldestAllowed(): number {
    return this.#options.now() - this.#options.retention.ageMs;
  }

  async #oldest(): Promise<number> {
    const { range, first } = this.#log;
    if (range.oldestAt === null) {
      const [oldest] = await this.#log.read(first - 1, 1, 1);
      range.oldestAt = oldest?.ts ?? null;
    }
    return range.oldestAt ?? Number.POSITIVE_INFINITY;
  }

  /** One cut at a time. */
  #cut(): Promise<void> {
    this.#cutting ??= this.#tryCut().finally(() => {
      this.#cutting = null;
    });
    return this.#cutting;
  }

  async #tryCut(): Promise<void> {
    try {
      await this.#settleDoubt();
      const cut = await this.#plan();
      if (cut) {
        this.#making = this.#make(cut);
        await this.#making;
      }
    } catch (error) {
      this.#options.failed(error);
    } finally {
      this.#making = null;
    }
  }

  /** Finds out where the log begins, for a reader whose page begins later than expected. */
  async #settle(): Promise<void> {
    await this.#making?.catch(() => {});
    await this.#settleDoubt();
  }

  /** Plans a cut; null if there is nothing to drop. */
  async #plan(): Promise<Cut | null> {
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
    const { state, aside, seq, size } = await foldWhile(this.#log, base.seq, base.state, drops);
    if (seq < first) return null;
    const completed = new Map([...aside.values(), ...state.messages].map((message) => [message.id, message]));
    // The retained events tell of later changes too. Folding one twice changes nothing.
    for (const message of this.#log.changedTo(state.tip, (id) => completed.has(id)))
      completed.set(message.id, message);
    const messages = await placed(this.#log, withVersions([...completed.values()]));
    return { checkpoint: { seq, state: showing(state, []) }, messages, size };
  }

  async #make({ checkpoint, messages, size }: Cut): Promise<void> {
    try {
      await this.#store.cut(this.#log.ref, checkpoint, messages, this.#options.term);
    } catch (error) {
      this.#inDoubt = size;
      throw error;
    }
    this.#log.range.move(checkpoint, size);
    this.#log.forgetMessages(checkpoint, messages);
  }

  /** Finds out whether the store made a cut that failed here. */
  async #settleDoubt(): Promise<void> {
    const size = this.#inDoubt;
    if (size === null) return;
    const kept = await this.#store.checkpoint(this.#log.ref);
    this.#inDoubt = null;
    const { range } = this.#log;
    if (!kept || kept.seq <= range.base.seq) return;
    range.move(kept, size);
    this.#log.forgetMessages(kept, []);
  }
}

/**
 * Folds stored events after `seq` while the predicate accepts them and the store has more. The returned `seq` is the last folded one. Skips
 * the pieces of an answer whose end is folded too, because the end has the whole answer.
 */
export async function foldWhile(
  log: Pick<ReadableLog, 'read'>,
  after: number,
  from: SessionState,
  takes: (event: StoredEvent) => boolean,
): Promise<Pick<LazyFold, 'state' | 'aside'> & { seq: number; size: number }> {
  const fold = new LazyFold(from);
  let [seq, size] = [after, 0];
  for (;;) {
    const page = await log.read(seq, PAGE.events, PAGE.bytes);
    const taken: StoredEvent[] = [];
    for (const event of page) {
      if (event.seq !== seq + 1 || !takes(event)) break;
      taken.push(event);
      seq = event.seq;
      size += event.body.length;
    }
    const ended = new Set(taken.filter(({ type }) => type === 'message_end').map(({ runId }) => runId));
    for (const record of taken) {
      if (!ended.has(record.runId) || !isDelta(record)) fold.add(parseEvent(record));
    }
    if (taken.length === 0 || taken.length < page.length) {
      const { state, aside } = fold;
      return { state, aside, seq, size };
    }
  }
}
