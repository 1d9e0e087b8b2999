import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { LogView } from '../log/log-view.js';
import { asUnavailable } from '../log/unavailable.js';
import type { News } from '../stores/append.js';
import type { LogHead } from '../stores/stored.js';
import type { SessionEnvironment } from './environment.js';
import type { Session } from './session.js';

/** The reading side of a session: the log that is shown here, whoever writes it. */
export class SessionReader {
  /** The view of the present log, once it was looked at. */
  view: LogView | null = null;
  /** Number of times that a log was shown, or was seen to be over. */
  openings = 0;
  /** Epoch of the conversation that was last seen here. */
  #seenLast: string | undefined;
  /** Epoch of the notice that a delete from here left. */
  #notice: string | undefined;
  /** Stops watching the store for writes of others. */
  #unwatch: (() => void) | null = null;
  /** Whether a look at others' writes is pending, and whether another one must follow. */
  readonly #hearing = { now: false, again: false };
  readonly #session: Session;
  readonly #env: SessionEnvironment;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** Reads where the present log stands, without taking it from its holder. Null if there is none. */
  look(): MaybePromise<LogView | null> {
    const { held, stage } = this.#session.life;
    // A look does not wait for a close in progress: until that is stored, the whole log is there.
    if (held) return this.view;
    if (stage.name === 'closing') return null;
    // A look does not depend on whether the take succeeds.
    const again = (): MaybePromise<LogView | null> => this.look();
    if (stage.name === 'taking') return stage.done.then(again, again);
    const { store } = this.#env;
    const { ref } = this.#session;
    return asUnavailable(() =>
      andThen(store.head(ref), (head) => andThen(this.#settle(head), () => this.#seen(head))),
    );
  }

  /** Gives readers of the previous log its end. */
  #settle(present: LogHead | null): MaybePromise<void> {
    const { view } = this;
    const { life, ref } = this.#session;
    if (life.shows || !view || (present?.epoch === view.ref.epoch && !present.closed)) return;
    return andThen(this.#env.store.head(ref, view.ref.epoch), (head) => {
      if (head && !life.shows) view.update(head);
    });
  }

  #seen(head: LogHead | null): MaybePromise<LogView | null> {
    // The session was taken or closed here while the store was asked.
    if (this.#session.life.shows) return this.look();
    if (!head || head.closed) {
      this.view = null;
      // A new log replaced the old one, or the session is gone. Move its subscribers to the new log, or end them with `gap`.
      const isOther = this.#seenLast !== undefined && head?.epoch !== this.#seenLast;
      // Subscribers here have read the end of a log that was deleted from here.
      if (isOther && (head || this.#seenLast !== this.#notice)) this.openings += 1;
      this.#seenLast = head?.epoch;
      return null;
    }
    const view = this.viewOf(head);
    this.show(view);
    return view;
  }

  /** The view of a log at a head: the present view if it is of the same log, else a new one. */
  viewOf(head: LogHead): LogView {
    const { epoch } = head;
    if (this.view?.ref.epoch === epoch) {
      this.view.update(head);
      if (!this.view.isReplaced) return this.view;
    }
    const { scope, app, name } = this.#session.ref;
    return new LogView(this.#env.store, { scope, app, name, epoch }, head, this.#env.limits.pageBytes);
  }

  /** Makes a view the present one of the session. */
  show(view: LogView): void {
    if (this.view === view) return;
    this.view = view;
    this.#seenLast = view.ref.epoch;
    this.openings += 1;
    this.#env.opened(this.#session.ref);
  }

  /** Forgets the present log. @param notice Epoch of the notice that a delete from here left, for readers that lag behind */
  forget(notice?: string): void {
    this.view = null;
    if (notice === undefined) return;
    this.#seenLast = notice;
    this.#notice = notice;
  }

  /** Follows a log again that is no longer written here. */
  resume(view: LogView | null): void {
    this.view = view;
    this.watch();
    this.heard();
  }

  /** Watches the store for others' writes while the session is not held here and somebody follows it or waits for a run. */
  watch(): void {
    const { viewers, results, life, ref } = this.#session;
    const wanted = (viewers.watching || results.size > 0) && !life.held;
    if (wanted === (this.#unwatch !== null)) return;
    this.#unwatch?.();
    this.#unwatch = wanted ? this.#env.store.watch(ref, (news) => this.heard(news)) : null;
  }

  /** Called when others may have written. @param news A batch that they appended */
  heard(news?: News): void {
    const { life, viewers } = this.#session;
    if (news && !life.shows && this.view?.follow(news)) return viewers.wake();
    const hearing = this.#hearing;
    if (hearing.now) hearing.again = true;
    else {
      hearing.now = true;
      setImmediate(() => void this.#hear());
    }
  }

  /** One look at a time, so that a slow store does not get more requests. */
  async #hear(): Promise<void> {
    const hearing = this.#hearing;
    const session = this.#session;
    hearing.again = false;
    try {
      if (this.#unwatch) {
        await session.look();
        session.viewers.wake();
        await session.results.learnEnds();
      }
    } catch (error) {
      session.report(error, `following session ${session.id}`);
      session.hold.tryAgain(() => this.heard());
    }
    hearing.now = false;
    if (hearing.again) this.heard();
  }
}
