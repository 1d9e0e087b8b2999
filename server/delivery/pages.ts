import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { LogBatch } from '../log/batch.js';
import type { OpenAnswer } from '../log/open-answer.js';
import type { ReadableLog } from '../log/readable-log.js';

const PAGE = { events: 512, bytes: 64 * 1024 };
/** Smallest page that is shared, and that counts for `room`, in characters. */
const LARGE = 16 * 1024;
/** Most shared pages of one log. */
const SHARED = 64;

// Weak references: a page is kept until its memory is needed.
const pages = new WeakMap<ReadableLog, Map<number, WeakRef<LogBatch>>>();

/**
 * The next page after a place in a log, as a batch. Readers that catch up from there at about the same time share it and its encoding. Null
 * if there is none.
 *
 * @param known The answer that the reader knows of
 */
export function sharedPage(
  log: ReadableLog,
  after: number,
  known: OpenAnswer | null,
): MaybePromise<LogBatch | null> {
  const shared = pages.get(log)?.get(after)?.deref();
  if (shared && shared.before === known && isCurrent(shared, log)) return shared;
  return andThen(log.read(after, PAGE.events, PAGE.bytes), (events) => {
    if (events.length === 0) return null;
    const page = new LogBatch(log.ref.epoch, events, known);
    if (page.chars >= LARGE) share(log, after, page);
    return page;
  });
}

/** Whether the log still has the events of a page. A store may have lost its tail. */
function isCurrent({ events, last }: LogBatch, log: ReadableLog): boolean {
  return last <= log.head && events.at(-1)!.term === log.termAt(last);
}

function share(log: ReadableLog, after: number, page: LogBatch): void {
  const shared = pages.get(log) ?? new Map<number, WeakRef<LogBatch>>();
  pages.set(log, shared);
  shared.delete(after);
  shared.set(after, new WeakRef(page));
  if (shared.size > SHARED) shared.delete(shared.keys().next().value!);
}

/** Characters for all lagging readers together in one turn of the event loop. New events are delivered in between. */
const TURN_CHARS = 512 * 1024;
/** Number of waiting readers that continue in one turn. */
const TURN_READERS = 8;

let spent = 0;
let isCounting = false;
const waiting: (() => void)[] = [];

/** Counts a page that a lagging reader was given. Pieces of answers are too small to count. */
export function spend(chars: number): void {
  if (chars < LARGE) return;
  spent += chars;
  if (isCounting) return;
  isCounting = true;
  setImmediate(nextTurn);
}

/** Null if this turn has room for lagging readers. Otherwise resolves in a turn that has. */
export function room(): Promise<void> | null {
  if (spent < TURN_CHARS) return null;
  return new Promise((resolve) => waiting.push(resolve));
}

function nextTurn(): void {
  spent = 0;
  isCounting = waiting.length > 0;
  if (isCounting) setImmediate(nextTurn);
  for (const goOn of waiting.splice(0, TURN_READERS)) goOn();
}
