import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { Answering } from '../log/answering.js';
import { LogBatch } from '../log/batch.js';
import type { ReadableLog } from '../log/readable-log.js';

const PAGE = { events: 512, bytes: 64 * 1024 };
/** Characters from which on a page is worth being shared. */
const LARGE = 16 * 1024;
/** Pages of one log that are shared. */
const SHARED = 64;

// Weak: a page is kept until memory is wanted for something else.
const pages = new WeakMap<ReadableLog, Map<number, WeakRef<LogBatch>>>();

/**
 * What comes after a place in a log, as a batch: read and encoded once for all who catch up from there at about the same time. Null
 * where nothing is kept.
 *
 * @param known The answer that the reader knows to be written
 */
export function sharedPage(
  log: ReadableLog,
  after: number,
  known: Answering | null,
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

/** Whether the log still has what is in a page: a store may have lost the end of one. */
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
