import type { GapReason, SubscriptionInfo } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { Lens } from '../grants/lens.js';
import type { View } from '../grants/view.js';
import { type Answering, answeringAfter } from '../log/answering.js';
import type { LogBatch } from '../log/batch.js';
import type { ReadableLog } from '../log/readable-log.js';
import type { StoredEvent } from '../stores/store.js';
import { room, spend } from './catching-up.js';
import { type FollowedRun, RunFilter } from './run-filter.js';
import { sharedPage } from './shared-pages.js';
import { snapshotPayload } from './shared-snapshot.js';
import { cursorAt, resolveStart, type Start, type StartRequest, type StartSource } from './start.js';
import type { WireForm } from './wire-form.js';

/** Where a subscription writes. `writable` turns false when the receiver does not keep up; its owner pumps again on drain. */
export interface Outlet {
  readonly form: WireForm<unknown>;
  readonly writable: boolean;
  /** @param events How many logged events are in it. */
  write(payload: unknown, events: number): void;
  /** A gap is announced. */
  gap(reason: GapReason): void;
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
  /** The conversation after the one of an epoch, or the first that is kept; `gone` when that of the epoch is not kept any more. */
  nextLog(after: string | null): MaybePromise<ReadableLog | 'gone' | null>;
  /** As its reader names it. */
  readonly id: string;
  /** What of it is shown; absent where all is. */
  readonly view?: View;
  attach(subscription: Subscription): void;
  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  detach(subscription: Subscription, left: boolean): void;
  describe(): Pick<SubscriptionInfo, 'status' | 'runId' | 'queued'>;
}

/** How far a subscription has come. */
type State =
  /** Its place is being found. */
  | { readonly is: 'opening' }
  /** Its place is found; nothing is sent before `begin`. */
  | { readonly is: 'ready'; readonly start: Start }
  /** A gap and a snapshot come before anything else, as soon as the outlet takes them; without the start, they are on their way. */
  | { readonly is: 'announcing'; readonly start: Start | null }
  /** Sends what there is. */
  | { readonly is: 'live' }
  /** Waits for the store, and is live again when that has answered. */
  | { readonly is: 'reading' }
  | { readonly is: 'closed' };

const OPENING: State = { is: 'opening' };
const ANNOUNCING: State = { is: 'announcing', start: null };
const LIVE: State = { is: 'live' };
const READING: State = { is: 'reading' };
const CLOSED: State = { is: 'closed' };

/**
 * One subscriber of one session: a cursor over the shared log. A wake carries no data, so a lost or doubled one can neither lose
 * nor repeat an event; while the outlet is blocked nothing is held for it but its place.
 */
export class Subscription {
  readonly session: Subscribable;
  readonly #outlet: Outlet;
  readonly #filter: RunFilter | null;
  readonly #lens: Lens | null;
  #state = OPENING;
  #log: ReadableLog | null = null;
  #after = 0;
  /** The answer that the receiver knows to be written. */
  #known: Answering | null = null;
  /** The session's openings at which nothing followed the present log. */
  #followed = -1;
  /** Whether it was said that the log can't be read now. */
  #unreadable = false;

  /** @param run The run to follow, instead of the whole session. */
  constructor(session: Subscribable, outlet: Outlet, run: FollowedRun | null = null) {
    this.session = session;
    this.#outlet = outlet;
    this.#filter = run && new RunFilter(run, () => this.pump());
    this.#lens = session.view ? new Lens(session.view, run === null) : null;
  }

  /** Nothing leads back from `closed`. */
  #become(state: State): void {
    if (this.#state !== CLOSED) this.#state = state;
  }

  /** Registers for wakes, then finds the starting place. Nothing is sent before `begin`. */
  async open(request: StartRequest): Promise<SubscriptionInfo> {
    this.session.attach(this);
    const start = await resolveStart(this.session, request);
    this.#standAt(start);
    this.#become({ is: 'ready', start });
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
  }

  /** Sends what the start asks for and then every event, as the outlet takes them. */
  begin(): void {
    if (this.#state.is === 'ready') this.#go(this.#state.start);
    this.pump();
  }

  #standAt({ log, after }: Pick<Start, 'log' | 'after'>): void {
    this.#log = log;
    this.#after = after;
    this.#known = null;
    this.#lens?.reset();
  }

  /** Goes on from a start. Not before the outlet takes its snapshot, or a client that never reads could pile them up. */
  #go(start: Start): void {
    this.#become(start.snapshot ? { is: 'announcing', start } : LIVE);
  }

  /**
   * Position a client would resume from; null before the session's first event, and until a snapshot that leads there was sent:
   * a client that is cut off before it must not resume behind it.
   */
  get cursor(): string | null {
    // Events that are hidden are accounted for with the next one that is not.
    return this.announcing ? null : cursorAt(this.#log, this.#after - (this.#lens?.pending ?? 0));
  }

  /** Whether where it stands can't be told yet. */
  get announcing(): boolean {
    const state = this.#state;
    if (state.is === 'ready') return state.start.snapshot !== undefined;
    return state.is === 'opening' || state.is === 'announcing';
  }

  /** Whether it has sent everything there is. */
  get caughtUp(): boolean {
    const isToStart = 'start' in this.#state && this.#state.start !== null;
    return !isToStart && this.#after >= (this.#log?.head ?? 0);
  }

  /** The session's log was lost to this process. */
  interrupt(): void {
    this.close();
    this.#outlet.interrupt();
  }

  /** @param left Whether its receiver went away, rather than that it has all it wanted. */
  close(left = true): void {
    if (this.#state === CLOSED) return;
    this.#become(CLOSED);
    this.session.detach(this, left);
  }

  /** Sends what there is. `batch` is what was just committed, if that woke us. Never throws: it is called by all that happens. */
  pump(batch?: LogBatch): void {
    try {
      this.#pump(batch);
    } catch (error) {
      this.#break(error);
    }
  }

  /** Whatever goes wrong here ends this connection and nothing else. */
  #break(error: unknown): void {
    this.#outlet.report(error, `following session ${this.session.id}`);
    this.interrupt();
  }

  #pump(batch?: LogBatch): void {
    while (this.#outlet.writable) {
      const state = this.#state;
      if (state.is === 'announcing' && state.start) this.#announce(state.start);
      else if (state.is !== 'live' || !this.#advance(batch)) return;
    }
  }

  /** Sends what comes next; whether there may be more to do. */
  #advance(batch?: LogBatch): boolean {
    const log = this.#log;
    if (log?.isReplaced) return this.#restart();
    if (!log || this.#after >= log.head) {
      if (!this.#filter) return this.#follow();
      if (this.#filter.isBehind(log, this.#after)) this.#finish(this.#filter);
      else if (this.#filter.isUnknown) this.interrupt();
      return false;
    }
    if (batch?.first !== this.#after + 1 || batch.epoch !== log.ref.epoch) return this.#page(log);
    this.#pass(batch, log);
    return true;
  }

  /** Sends a batch, as it is shared by all where its reader needs nothing else. */
  #pass(batch: LogBatch, log: ReadableLog): void {
    this.#after = batch.last;
    const isWhole = this.#filter?.isWhole(batch) ?? true;
    if (isWhole && !this.#lens && (!batch.needs || batch.needs === this.#known)) {
      this.#outlet.write(batch.payload(this.#outlet.form, this.session.id), batch.events.length);
      this.#checkEnd(batch.events);
    } else this.#send(batch.events, log);
    if (isWhole && !this.#lens && batch.tells !== undefined) this.#known = batch.tells;
  }

  /** At the end of a conversation: goes over to the one that followed it, if there is one. */
  #follow(): boolean {
    const { log, openings } = this.session;
    const epoch = this.#log?.ref.epoch ?? null;
    if (openings === this.#followed || (log && log.ref.epoch === epoch)) return false;
    return this.#read(
      () => this.session.nextLog(epoch),
      (found) => {
        if (found === 'gone') return this.#restart();
        if (found) this.#enter(found);
        else this.#followed = openings;
        return found !== null;
      },
    );
  }

  #enter(log: ReadableLog): void {
    const reopened = this.#log !== null;
    this.#standAt({ log, after: 0 });
    if (!reopened) return this.#outlet.moved();
    const gap = { reason: 'epoch', requested: null } as const;
    this.#announce({ gap, snapshot: { ...initialState, cursor: cursorAt(log, 0) } });
  }

  #page(log: ReadableLog): boolean {
    return this.#read(
      () => {
        const read = () => sharedPage(log, this.#after, this.#known);
        return room()?.then(read) ?? read();
      },
      (page) => this.#take(page, log),
    );
  }

  /**
   * Reads and goes on, at once or later; false when it is not to go on now. A store that can't be read now, or a page of it that
   * is damaged, is no reason to end anything: the place is kept and the sweep reads again.
   */
  #read<T>(read: () => MaybePromise<T>, take: (value: T) => boolean): boolean {
    const failed = (error: unknown): void => {
      this.#become(LIVE);
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
    this.#become(READING);
    value.then((late) => {
      this.#become(LIVE);
      this.#unreadable = false;
      // Meanwhile its place may have been given to another subscription, or the receiver fallen behind; a drain reads again.
      if (this.#state !== LIVE || !this.#outlet.writable) return;
      try {
        if (take(late)) this.#pump();
      } catch (error) {
        this.#break(error);
      }
    }, failed);
    return false;
  }

  #take(page: LogBatch | null, log: ReadableLog): boolean {
    // Nothing where something was: the whole rest has been cut. What was read of another end than it has seen is not passed on.
    if (log.isReplaced || page?.first !== this.#after + 1) return this.#restart();
    spend(page.chars);
    this.#pass(page, log);
    return true;
  }

  /** What comes next was cut while this subscriber lagged behind: say so and go on from what is kept. */
  #restart(): boolean {
    const cursor = cursorAt(this.#log, this.#after) ?? '';
    return this.#read(
      () => resolveStart(this.session, { cursor }),
      (found) => {
        this.#standAt(found);
        this.#go(found);
        // Nothing was cut after all, so reading again at once would change nothing; the sweep pumps again.
        return found.resume !== 'exact';
      },
    );
  }

  #send(events: readonly StoredEvent[], log: ReadableLog): void {
    const ofRun = this.#filter ? this.#filter.of(events) : events;
    const wanted = this.#lens ? this.#lens.of(ofRun) : ofRun;
    if (wanted.length === 0) return;
    const origin = { sessionId: this.session.id, epoch: log.ref.epoch };
    this.#outlet.write(this.#outlet.form.events(wanted, origin, this.#known), wanted.length);
    for (const event of wanted) this.#known = answeringAfter(event, this.#known);
    this.#checkEnd(wanted);
  }

  #checkEnd(events: readonly StoredEvent[]): void {
    if (this.#filter?.endsIn(events)) this.#finish(this.#filter);
  }

  #finish(filter: RunFilter): void {
    this.close(false);
    filter.ended();
  }

  /** A gap and its snapshot are one: nothing comes between them. */
  #announce({ gap, snapshot }: Pick<Start, 'gap' | 'snapshot'>): void {
    this.#become(ANNOUNCING);
    if (gap) this.#sendGap(gap);
    this.#become(LIVE);
    if (snapshot) this.#sendSnapshot(snapshot);
  }

  #sendGap(gap: NonNullable<Start['gap']>): void {
    const log = this.#log;
    const place = { epoch: log?.ref.epoch ?? null, first: log?.first ?? 1, head: log?.head ?? 0 };
    this.#outlet.gap(gap.reason);
    this.#outlet.write(this.#transient('gap', { ...gap, ...place }), 0);
  }

  #sendSnapshot(state: NonNullable<Start['snapshot']>): void {
    const { form } = this.#outlet;
    const encode = (shown: typeof state) => this.#transient('snapshot', { state: shown });
    const { view } = this.session;
    const payload = view ? encode(view.state(state)) : snapshotPayload(state, form, () => encode(state));
    this.#outlet.write(payload, 0);
    this.#outlet.moved();
  }

  #transient(type: 'gap' | 'snapshot', data: Record<string, unknown>): unknown {
    const cursor = cursorAt(this.#log, this.#after);
    const payload = { sessionId: this.session.id, ...(cursor !== null && { cursor }), ...data };
    return this.#outlet.form.transient(type, payload as never, this.cursor ?? undefined);
  }
}
