import { type Cursor, parseCursor } from '../../shared/cursor.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import type { RunResult } from '../../shared/operation-types.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import type { LogBatch } from '../sessions/batch.js';
import type { ReadableLog } from '../sessions/readable-log.js';
import type { StoredEvent } from '../stores/store.js';
import { cursorAt, resolveStart, type Start, type StartRequest, type StartSource } from './start.js';
import type { WireForm } from './wire-form.js';

/** Where a subscription writes. `writable` turns false when the receiver does not keep up; its owner pumps again on drain. */
export interface Outlet {
  readonly form: WireForm<unknown>;
  readonly writable: boolean;
  write(payload: unknown): void;
  /** The place of a subscription has changed other than by events: a new log, or a snapshot. */
  moved(): void;
  /** Ends the connection, because what it follows can't be served here any more; its client comes back and resumes. */
  interrupt(): void;
}

/** The session a subscription follows. */
export interface Subscribable extends StartSource {
  /** Canonical key. */
  readonly id: string;
  attach(subscription: Subscription): void;
  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  detach(subscription: Subscription, left: boolean): void;
  describe(): Pick<SubscriptionInfo, 'status' | 'runId' | 'queued'>;
}

/** Restricts a subscription to one run, and ends it there. */
export interface RunFilter {
  readonly runId: string;
  /** Its outcome, with the place of its end: a subscription that starts there or behind has nothing to wait for. */
  readonly result: Promise<Pick<RunResult, 'cursor'>>;
  ended(): void;
}

const PAGE = { events: 512, bytes: 64 * 1024 };

/**
 * One subscriber of one session: a cursor over the shared log. A wake carries no data, so a lost or doubled one can neither lose
 * nor repeat an event; while the outlet is blocked nothing is held for it but its place.
 */
export class Subscription {
  readonly session: Subscribable;
  readonly #outlet: Outlet;
  readonly #filter: RunFilter | null;
  #start: Start | null = null;
  /** Whether the place still has to be found, or a gap or snapshot to be sent. */
  #announcing = true;
  #log: ReadableLog | null = null;
  #after = 0;
  /** Where the run of the filter has ended. */
  #end: Cursor | null = null;
  #begun = false;
  #paging = false;
  #closed = false;

  constructor(session: Subscribable, outlet: Outlet, filter: RunFilter | null = null) {
    this.session = session;
    this.#outlet = outlet;
    this.#filter = filter;
    filter?.result.then(
      ({ cursor }) => {
        this.#end = parseCursor(cursor);
        this.pump();
      },
      () => {},
    );
  }

  /** Registers for wakes, then finds the starting place. Nothing is sent before `begin`. */
  open(request: StartRequest): MaybePromise<SubscriptionInfo> {
    this.session.attach(this);
    return andThen(resolveStart(this.session, request), (start) => {
      this.#start = start;
      this.#log = start.log;
      this.#after = start.after;
      this.#announcing = start.snapshot !== undefined;
      const { log } = start;
      const cursor = cursorAt(log, start.after);
      const info = {
        epoch: log?.ref.epoch ?? null,
        first: log?.first ?? 1,
        head: log?.head ?? 0,
        resume: start.resume,
        next: start.after + 1,
        ...(cursor !== null && { cursor }),
      };
      return { ...info, ...this.session.describe() };
    });
  }

  /** Sends what the start asks for and then every event, as the outlet takes them. */
  begin(): void {
    this.#begun = true;
    this.pump();
  }

  /** A gap and its snapshot are one: nothing comes between them. */
  #announce({ gap, snapshot }: Start): void {
    this.#start = null;
    if (gap) this.#sendGap(gap.reason, gap.requested);
    if (snapshot) this.#sendSnapshot(snapshot);
  }

  /**
   * Position a client would resume from; null before the session's first event, and until a snapshot that leads there was sent:
   * a client that is cut off before it must not resume behind it.
   */
  get cursor(): string | null {
    return this.announcing ? null : cursorAt(this.#log, this.#after);
  }

  /** Whether where it stands can't be told yet. */
  get announcing(): boolean {
    return this.#announcing;
  }

  /** The session's log was lost to this process. */
  interrupt(): void {
    this.close();
    this.#outlet.interrupt();
  }

  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  close(left = true): void {
    if (this.#closed) return;
    this.#closed = true;
    this.session.detach(this, left);
  }

  /** Sends what there is. `batch` is what was just committed, if that woke us. */
  pump(batch?: LogBatch): void {
    if (!this.#begun || this.#paging) return;
    while (this.#outlet.writable && !this.#closed) {
      const log = this.#log;
      // Not before the outlet takes it, or a client that never reads could pile up snapshots.
      if (this.#start) this.#announce(this.#start);
      else if (!log || this.#after >= log.head) {
        if (this.#filter) return this.#checkOver();
        if (!this.#follow()) return;
      } else if (batch && batch.first === this.#after + 1 && batch.epoch === log.ref.epoch) {
        this.#after = batch.last;
        if (!this.#filter || batch.runId === this.#filter.runId) {
          this.#outlet.write(batch.payload(this.#outlet.form, this.session.id));
          if (this.#filter) this.#checkEnd(batch.events);
        } else this.#send(batch.events, log);
      } else if (!this.#page(log)) return;
    }
  }

  /** At the end of a log: goes over to the session's present log, if that is another one. */
  #follow(): boolean {
    const { log } = this.session;
    if (!log || log.ref.epoch === this.#log?.ref.epoch) return false;
    const reopened = this.#log !== null;
    this.#log = log;
    this.#after = 0;
    if (!reopened) this.#outlet.moved();
    else {
      this.#sendGap('epoch', null);
      this.#sendSnapshot({ ...initialState, cursor: cursorAt(this.#log, 0) });
    }
    return true;
  }

  #page(log: ReadableLog): boolean {
    const page = log.read(this.#after, PAGE.events, PAGE.bytes);
    if (!isPromise(page)) return this.#take(page, log);
    this.#paging = true;
    page.then(
      (events) => {
        this.#paging = false;
        // Meanwhile its place may have been given to another subscription, or the receiver fallen behind; a drain reads again.
        if (this.#closed || !this.#outlet.writable) return;
        if (this.#take(events, log)) this.pump();
      },
      () => {
        // The store can't be read now; the sweep pumps again.
        this.#paging = false;
      },
    );
    return false;
  }

  #take(events: readonly StoredEvent[], log: ReadableLog): boolean {
    // Nothing where something was: the whole rest has been cut.
    if (events[0]?.seq !== this.#after + 1) return this.#restart();
    this.#after = events.at(-1)!.seq;
    this.#send(events, log);
    return true;
  }

  /** What comes next was cut while this subscriber lagged behind: say so and go on from what is kept. */
  #restart(): boolean {
    const start = resolveStart(this.session, { cursor: cursorAt(this.#log, this.#after) ?? '' });
    const apply = (found: Start): boolean => {
      this.#start = found;
      this.#log = found.log;
      this.#after = found.after;
      this.#announcing = found.snapshot !== undefined;
      // Nothing was cut after all, so reading again at once would change nothing; the sweep pumps again.
      if (found.resume === 'exact') this.#start = null;
      else this.pump();
      return false;
    };
    if (!isPromise(start)) return apply(start);
    this.#paging = true;
    start.then(
      (found) => {
        this.#paging = false;
        if (!this.#closed) apply(found);
      },
      () => {
        this.#paging = false;
      },
    );
    return false;
  }

  #send(events: readonly StoredEvent[], log: ReadableLog): void {
    const runId = this.#filter?.runId;
    const wanted = runId === undefined ? events : events.filter((event) => event.runId === runId);
    if (wanted.length === 0) return;
    this.#outlet.write(this.#outlet.form.events(wanted, this.session.id, log.ref.epoch));
    if (this.#filter) this.#checkEnd(wanted);
  }

  #checkEnd(events: readonly StoredEvent[]): void {
    if (!events.some((event) => event.type === 'message_end' && event.runId === this.#filter?.runId)) return;
    this.close(false);
    this.#filter?.ended();
  }

  #checkOver(): void {
    const end = this.#end;
    if (!end || (this.#log?.ref.epoch === end.epoch && this.#after < end.seq)) return;
    this.close(false);
    this.#filter?.ended();
  }

  #sendGap(reason: NonNullable<Start['gap']>['reason'], requested: string | null): void {
    const log = this.#log;
    const place = { epoch: log?.ref.epoch ?? null, first: log?.first ?? 1, head: log?.head ?? 0 };
    this.#announcing = true;
    this.#sendTransient('gap', { reason, requested, ...place });
  }

  #sendSnapshot(state: NonNullable<Start['snapshot']>): void {
    this.#announcing = false;
    this.#sendTransient('snapshot', { state });
    this.#outlet.moved();
  }

  #sendTransient(type: 'gap' | 'snapshot', data: Record<string, unknown>): void {
    const cursor = cursorAt(this.#log, this.#after);
    const payload = { sessionId: this.session.id, ...(cursor !== null && { cursor }), ...data };
    this.#outlet.write(this.#outlet.form.transient(type, payload as never, this.cursor ?? undefined));
  }
}
