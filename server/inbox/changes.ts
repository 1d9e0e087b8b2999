import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { SessionRef, Store } from '../stores/store.js';

/** A session has changed in a way that the order of lists does not tell. */
const CHANGED = errand<SessionRef, null>('inbox-changed');
/** How often what other gateways may have changed is looked for. */
const LOOK_MS = 1000;

/** Who follows an inbox. */
export interface Follower {
  readonly scope: string;
  /** A session of the scope may have changed. */
  changed(ref: SessionRef): void;
  /** It is time to look for what nobody has told. */
  look(): void;
}

/** Tells those who follow inboxes what this gateway has written, and others where the store's lists do not. */
export class InboxChanges {
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #report: Report;
  #errands: Errands | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Hears of other gateways on the store. */
  join(errands: Errands): void {
    this.#errands = errands;
    errands.on(CHANGED, (ref) => {
      this.#tell(ref);
      return null;
    });
  }

  /** Returns what ends it. */
  follow(follower: Follower): () => void {
    const { scope } = follower;
    const followers = this.#followers.get(scope) ?? new Set();
    this.#followers.set(scope, followers.add(follower));
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(scope) === followers) this.#followers.delete(scope);
      if (this.#followers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #look(): void {
    for (const followers of this.#followers.values()) for (const follower of followers) follower.look();
  }

  #tell({ scope, app, name }: SessionRef): void {
    const followers = this.#followers.get(scope);
    if (followers) for (const follower of followers) follower.changed({ scope, app, name });
  }

  /** A session was changed here. @param isListed Whether the store's lists show that it was */
  changed(ref: SessionRef, isListed: boolean): void {
    this.#tell(ref);
    if (isListed || !this.#errands) return;
    const { scope, app, name } = ref;
    this.#errands
      .askAll(CHANGED, { scope, app, name })
      .catch((error: unknown) => this.#report(error, 'telling other gateways of a change'));
  }

  /** A store that tells what was written to it. @param store Its methods need no `this` */
  telling(store: Store): Store {
    const told = <T>(ref: SessionRef, isListed: boolean, result: MaybePromise<T>): MaybePromise<T> =>
      andThen(result, (value) => {
        this.changed(ref, isListed);
        return value;
      });
    return {
      ...store,
      append: (log, events, options) => {
        const appended = store.append(log, events, options);
        const { about, close, erase } = options;
        if (!about && !close && erase === undefined) return appended;
        return told(log, about?.usedAt !== undefined && !close && erase === undefined, appended);
      },
    };
  }
}
