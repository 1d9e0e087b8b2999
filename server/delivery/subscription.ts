import { type Cursor, parseCursor } from '../../shared/cursor.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import type { RunResult } from '../../shared/operation-types.js';
import { type Answering, answeringAfter } from '../log/answering.js';
import type { LogBatch } from '../log/batch.js';
import type { ReadableLog } from '../log/readable-log.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import type { StoredEvent } from '../stores/store.js';
import { snapshotPayload } from './shared-snapshot.js';
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
  report(error: unknown, what: string): void;
}

/** The session a subscription follows. */
export interface Subscribable extends StartSource {
  /** How often it took up a log: where this has not changed, nothing has begun. */
  readonly openings: number;
  /** The conversation after the one of an epoch, or the first that is kept. */
  nextLog(after: string | null): MaybePromise<ReadableLog | null>;
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
  /** The answer that the receiver knows to be written. */
  #known: Answering | null = null;
  /** Where the run of the filter has ended. */
  #end: Cursor | null = null;
  #begun = false;
  #paging = false;
  /** The session's openings at which nothing followed the present log. */
  #followed = -1;
  #unreadable = false;
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

  /** Whether it has sent everything there is. */
  get caughtUp(): boolean {
    return !this.#start && this.#after >= (this.#log?.head ?? 0);
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

  /** Sends what there is. `batch` is what was just committed, if that woke us. Never throws: it is called by all that happens. */
  pump(batch?: LogBatch): void {
    this.#guarded(() => this.#pump(batch));
  }

  #pump(batch?: LogBatch): void {
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
        const isWhole = !this.#filter || batch.runId === this.#filter.runId;
        if (isWhole && (!batch.needs || batch.needs === this.#known)) {
          this.#outlet.write(batch.payload(this.#outlet.form, this.session.id));
          if (this.#filter) this.#checkEnd(batch.events);
        } else this.#send(batch.events, log);
        if (isWhole && batch.tells !== undefined) this.#known = batch.tells;
      } else if (!this.#page(log)) return;
    }
  }

  /** At the end of a conversation: goes over to the one that followed it, if there is one. */
  #follow(): boolean {
    const { log, openings } = this.session;
    const epoch = this.#log?.ref.epoch ?? null;
    if (openings === this.#followed || (log && log.ref.epoch === epoch)) return false;
    return this.#read(
      () => this.session.nextLog(epoch),
      (found) => {
        if (found) this.#enter(found);
        else this.#followed = openings;
        return found !== null;
      },
    );
  }

  #enter(log: ReadableLog): void {
    const reopened = this.#log !== null;
    this.#log = log;
    this.#after = 0;
    this.#known = null;
    if (!reopened) return this.#outlet.moved();
    this.#sendGap('epoch', null);
    this.#sendSnapshot({ ...initialState, cursor: cursorAt(log, 0) });
  }

  #page(log: ReadableLog): boolean {
    return this.#read(
      () => log.read(this.#after, PAGE.events, PAGE.bytes),
      (events) => this.#take(events, log),
    );
  }

  /**
   * Reads and goes on, at once or later; false when it is not to go on now. A store that can't be read now, or a page of it that
   * is damaged, is no reason to end anything: the place is kept and the sweep reads again.
   */
  #read<T>(read: () => MaybePromise<T>, take: (value: T) => boolean): boolean {
    const failed = (error: unknown): void => {
      this.#paging = false;
      if (!this.#unreadable) this.#outlet.report(error, `reading session ${this.session.id}`);
      this.#unreadable = true;
    };
    let value: MaybePromise<T>;
    try {
      value = read();
    } catch (error) {
      failed(error);
      return false;
    }
    if (!isPromise(value)) {
      this.#unreadable = false;
      return take(value);
    }
    this.#paging = true;
    value.then((late) => {
      this.#paging = false;
      this.#unreadable = false;
      // Meanwhile its place may have been given to another subscription, or the receiver fallen behind; a drain reads again.
      if (this.#closed || !this.#outlet.writable) return;
      this.#guarded(() => {
        if (take(late)) this.#pump();
      });
    }, failed);
    return false;
  }

  /** Whatever goes wrong here ends this connection and nothing else. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#outlet.report(error, `following session ${this.session.id}`);
      this.interrupt();
    }
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
    const cursor = cursorAt(this.#log, this.#after) ?? '';
    return this.#read(
      () => resolveStart(this.session, { cursor }),
      (found) => {
        this.#start = found;
        this.#log = found.log;
        this.#after = found.after;
        this.#known = null;
        this.#announcing = found.snapshot !== undefined;
        // Nothing was cut after all, so reading again at once would change nothing; the sweep pumps again.
        if (found.resume !== 'exact') return true;
        this.#start = null;
        return false;
      },
    );
  }

  #send(events: readonly StoredEvent[], log: ReadableLog): void {
    const runId = this.#filter?.runId;
    const wanted = runId === undefined ? events : events.filter((event) => event.runId === runId);
    if (wanted.length === 0) return;
    const origin = { sessionId: this.session.id, epoch: log.ref.epoch };
    this.#outlet.write(this.#outlet.form.events(wanted, origin, this.#known));
    for (const event of wanted) this.#known = answeringAfter(event, this.#known);
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
    this.#outlet.write(this.#transient('gap', { reason, requested, ...place }));
  }

  #sendSnapshot(state: NonNullable<Start['snapshot']>): void {
    this.#announcing = false;
    const { form } = this.#outlet;
    this.#outlet.write(snapshotPayload(state, form, () => this.#transient('snapshot', { state })));
    this.#outlet.moved();
  }

  #transient(type: 'gap' | 'snapshot', data: Record<string, unknown>): unknown {
    const cursor = cursorAt(this.#log, this.#after);
    const payload = { sessionId: this.session.id, ...(cursor !== null && { cursor }), ...data };
    return this.#outlet.form.transient(type, payload as never, this.cursor ?? undefined);
  }
}
