import { isDelta } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { Checkpoint, Store, StoredEvent } from '../stores/store.js';
import { parseEvent } from './entry.js';
import { LazyFold } from './lazy-fold.js';
import type { LogView } from './log-view.js';
import type { ReadableLog } from './readable-log.js';
import { showing } from './showing.js';
import { withVersions } from './versions.js';

/** How much of a log is kept. Whatever is exceeded first cuts the oldest events; messages are never cut. */
export interface Retention {
  readonly events: number;
  readonly bytes: number;
  readonly ageMs: number;
}

// Cutting costs a pass over what is cut, so it waits until a tenth has gathered and then makes that much room.
const SLACK = 0.1;
/** Room is looked at again after so much at most: small integers cost no memory of their own. */
const MOST = 2 ** 29;
const PAGE = { events: 1000, bytes: 1 << 20 };

/** How much may be appended before a log is to be looked at again. */
export interface Room {
  readonly events: number;
  readonly chars: number;
}

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
  /** The store is asked for a cut. */
  #making: Promise<void> | null = null;
  /** Size of what a cut was to drop that failed, and that the store may have made. */
  #inDoubt: number | null = null;

  constructor(log: LogView, store: Store, options: LogCutterOptions) {
    this.#log = log;
    this.#store = store;
    this.#options = options;
    log.settleCut = () => this.#settle();
  }

  /** Resolves when the cut that is on its way has ended. */
  get cutting(): Promise<void> | null {
    return this.#cutting;
  }

  /** Cuts if there is enough to be dropped to be worth it. What it returns may still come before there can be. */
  trim(): Room {
    const { events, bytes } = this.#options.retention;
    const { head, first, range } = this.#log;
    const room = {
      events: Math.floor(Math.min(MOST, events * (1 + SLACK) - (head - first + 1))),
      chars: Math.floor(Math.min(MOST, bytes * (1 + SLACK) - range.chars)),
    };
    if (room.events < 0 || room.chars < 0) void this.#cut();
    return room;
  }

  /** Cuts what has become too old. */
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

  /** One at a time. */
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

  /** Finds out where the log begins, for whoever meets a page that begins later than it was to. */
  async #settle(): Promise<void> {
    await this.#making?.catch(() => {});
    await this.#settleDoubt();
  }

  /** Works out what is to be dropped; null when there is nothing. */
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
    // What of them was reacted to later is told by events that are kept too: which to fold twice changes nothing.
    for (const message of this.#log.reactedTo(state.tip, (id) => completed.has(id)))
      completed.set(message.id, message);
    const messages = withVersions([...completed.values()]);
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

  /** After a cut that failed: finds out whether the store has made it nevertheless. */
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
 * Folds stored events after `seq` as long as the predicate takes them and the store has them: `seq` in the answer is the last one.
 * The pieces of an answer whose end is there too are passed over: that says it whole.
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
