import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { type Store, StoreError, type StoreErrorCode } from './store.js';

interface Pending {
  readonly at: number;
  readonly code: StoreErrorCode;
  readonly what: string;
  reject(error: StoreError): void;
}

/** One timer for all calls that wait: most are answered long before it fires. */
class Deadlines {
  readonly #ms: number;
  readonly #pending = new Set<Pending>();
  #timer: NodeJS.Timeout | null = null;

  constructor(ms: number) {
    this.#ms = ms;
  }

  bound<T>(what: string, answer: MaybePromise<T>, code: StoreErrorCode = 'UNAVAILABLE'): MaybePromise<T> {
    if (!isPromise(answer) || this.#ms === Number.POSITIVE_INFINITY) return answer;
    return new Promise<T>((resolve, reject) => {
      const call: Pending = { at: performance.now() + this.#ms, code, what, reject };
      this.#pending.add(call);
      this.#timer ??= setInterval(this.#check, Math.max(10, this.#ms / 8)).unref();
      answer.then(
        (value) => {
          this.#pending.delete(call);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(call);
          reject(error);
        },
      );
    });
  }

  readonly #check = (): void => {
    const now = performance.now();
    for (const call of this.#pending) {
      if (call.at > now) continue;
      this.#pending.delete(call);
      call.reject(new StoreError(call.code, `The store did not answer ${call.what} within ${this.#ms} ms`));
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer!);
    this.#timer = null;
  };
}

/**
 * A store whose answers are not waited for longer than so many milliseconds. Of what changes anything it is unknown then whether it was
 * made. Opening, closing, expiring, `vacuum` and `backup` take the time they take.
 *
 * @param ms `Infinity` waits for ever.
 */
export function withDeadlines(store: Store, ms: number): Store {
  const deadlines = new Deadlines(ms);
  return {
    durability: store.durability,
    ...(store.shared && { shared: store.shared }),
    open: () => store.open(),
    close: () => store.close(),
    ...(store.check && { check: () => deadlines.bound('check', store.check!()) }),
    acquire: (ref, options) => deadlines.bound('acquire', store.acquire(ref, options), 'UNKNOWN'),
    release: (ref, term) => deadlines.bound('release', store.release(ref, term), 'UNKNOWN'),
    append: (log, events, options) =>
      deadlines.bound('append', store.append(log, events, options), 'UNKNOWN'),
    read: (log, after, limit, bytes) => deadlines.bound('read', store.read(log, after, limit, bytes)),
    head: (ref, epoch) => deadlines.bound('head', store.head(ref, epoch)),
    conversations: (ref) => deadlines.bound('conversations', store.conversations(ref)),
    run: (ref, name) => deadlines.bound('run', store.run(ref, name)),
    sessionOf: (scope, runId) => deadlines.bound('sessionOf', store.sessionOf(scope, runId)),
    cut: (log, checkpoint, messages, term) =>
      deadlines.bound('cut', store.cut(log, checkpoint, messages, term), 'UNKNOWN'),
    checkpoint: (log) => deadlines.bound('checkpoint', store.checkpoint(log)),
    messages: (log, path) => deadlines.bound('messages', store.messages(log, path)),
    replies: (log, parent) => deadlines.bound('replies', store.replies(log, parent)),
    pathLength: (log, tip) => deadlines.bound('pathLength', store.pathLength(log, tip)),
    record: (ref) => deadlines.bound('record', store.record(ref)),
    list: (scope, page, filter) => deadlines.bound('list', store.list(scope, page, filter)),
    usage: (ref) => deadlines.bound('usage', store.usage(ref)),
    count: (scope) => deadlines.bound('count', store.count(scope)),
    unfinished: () => deadlines.bound('unfinished', store.unfinished()),
    expire: (before) => store.expire(before),
    remove: (ref, notice) => deadlines.bound('remove', store.remove(ref, notice), 'UNKNOWN'),
    kept: (scope, page) => deadlines.bound('kept', store.kept(scope, page)),
    beginErasure: (erasure) => deadlines.bound('beginErasure', store.beginErasure(erasure), 'UNKNOWN'),
    erasures: () => deadlines.bound('erasures', store.erasures()),
    endErasure: (erasure) => deadlines.bound('endErasure', store.endErasure(erasure), 'UNKNOWN'),
    ...(store.vacuum && { vacuum: () => store.vacuum!() }),
    ...(store.backup && { backup: (path) => store.backup!(path) }),
    watch: (ref, wake) => store.watch(ref, wake),
  };
}
