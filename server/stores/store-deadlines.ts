import { Deadlines } from '../async/deadlines.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { type Store, StoreError, type StoreErrorCode } from './store.js';

/**
 * A store whose answers are not waited for longer than so many milliseconds. Of what changes anything it is unknown then whether it was
 * made. Opening, closing, expiring, `vacuum` and `backup` take the time they take.
 *
 * @param ms `Infinity` waits for ever.
 */
export function withDeadlines(store: Store, ms: number): Store {
  const deadlines = new Deadlines(ms);
  const bound = <T>(
    what: string,
    answer: MaybePromise<T>,
    code: StoreErrorCode = 'UNAVAILABLE',
  ): MaybePromise<T> =>
    deadlines.bound(answer, () => new StoreError(code, `The store did not answer ${what} within ${ms} ms`));
  return {
    durability: store.durability,
    ...(store.shared && { shared: store.shared }),
    open: () => store.open(),
    close: () => store.close(),
    ...(store.check && { check: () => bound('check', store.check!()) }),
    acquire: (ref, options) => bound('acquire', store.acquire(ref, options), 'UNKNOWN'),
    release: (ref, term) => bound('release', store.release(ref, term), 'UNKNOWN'),
    append: (log, events, options) => bound('append', store.append(log, events, options), 'UNKNOWN'),
    read: (log, after, limit, bytes) => bound('read', store.read(log, after, limit, bytes)),
    head: (ref, epoch) => bound('head', store.head(ref, epoch)),
    changeRecords: (home, changes, options) =>
      bound('changeRecords', store.changeRecords(home, changes, options), 'UNKNOWN'),
    records: (query) => bound('records', store.records(query)),
    takeDue: (options) => bound('takeDue', store.takeDue(options), 'UNKNOWN'),
    conversations: (ref) => bound('conversations', store.conversations(ref)),
    run: (ref, name) => bound('run', store.run(ref, name)),
    cut: (log, checkpoint, messages, term) =>
      bound('cut', store.cut(log, checkpoint, messages, term), 'UNKNOWN'),
    checkpoint: (log) => bound('checkpoint', store.checkpoint(log)),
    messages: (log, path) => bound('messages', store.messages(log, path)),
    replies: (log, parent) => bound('replies', store.replies(log, parent)),
    pathLength: (log, tip) => bound('pathLength', store.pathLength(log, tip)),
    record: (ref) => bound('record', store.record(ref)),
    list: (scope, page, filter) => bound('list', store.list(scope, page, filter)),
    usage: (ref) => bound('usage', store.usage(ref)),
    count: (scope) => bound('count', store.count(scope)),
    unfinished: () => bound('unfinished', store.unfinished()),
    expire: (before) => store.expire(before),
    remove: (ref, notice) => bound('remove', store.remove(ref, notice), 'UNKNOWN'),
    kept: (scope, page) => bound('kept', store.kept(scope, page)),
    beginErasure: (begun) => bound('beginErasure', store.beginErasure(begun), 'UNKNOWN'),
    erasures: () => bound('erasures', store.erasures()),
    endErasure: (erasure) => bound('endErasure', store.endErasure(erasure), 'UNKNOWN'),
    ...(store.vacuum && { vacuum: () => store.vacuum!() }),
    ...(store.backup && { backup: (path) => store.backup!(path) }),
    watch: (ref, wake) => store.watch(ref, wake),
  };
}
