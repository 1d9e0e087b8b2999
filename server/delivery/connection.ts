import { formatVector, UNNAMED } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { GapReason, SubscriptionInfo, TransientEventType } from '../../shared/events.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Person } from '../auth/types.js';
import type { LogFacts, Report } from '../diagnostics/log-facts.js';
import type { ConnectionEndReason } from '../diagnostics/messages.js';
import type { EndReason } from './end-reason.js';
import type { Outlet } from './outlet.js';
import type { AwaitedRun } from './run-filter.js';
import { Stall } from './stall.js';
import { type Subscribable, Subscription } from './subscription.js';
import { Tally } from './tally.js';
import type { TransientPayload, WireForm } from './wire-form.js';

/** The transport's side of a connection. */
export interface Sink {
  /** Returns false if the receiver lags behind. Nothing more is written until `EventConnection.drained()`. */
  write(payload: unknown): boolean;
  /** Bytes that the receiver has taken so far, whether or not it lags behind. */
  sent(): number;
  /** Bytes that are written and not yet taken. */
  unread(): number;
  end(reason: EndReason): void;
}

/** Settings of a connection. */
export interface EventConnectionOptions {
  readonly id: string;
  readonly transport: string;
  readonly person: Person;
  /** Id of the request that opens the connection, if one does. */
  readonly requestId?: string;
  readonly form: WireForm<unknown>;
  readonly sink: Sink;
  readonly heartbeatMs: number;
  readonly slowClientMs: number;
  /** Time after which the connection ends, approximately, so that load can move. Default never. */
  readonly maxAgeMs?: number;
  /** Whether event ids are vectors of several sessions' cursors instead of a single cursor. */
  readonly vector?: boolean;
  /** Called with each session that the connection starts to follow. */
  readonly onFollow?: ((sessionId: string) => MaybePromise<void>) | undefined;
  /** Whether it counts as a client in limits and lifecycle events. A stream of one run does not. */
  readonly client: boolean;
  /** Whether it follows a single run and ends with it. @default false */
  readonly ofRun?: boolean;
}

/** The end of a connection, for its listeners. */
export interface ConnectionEnding {
  readonly reason: ConnectionEndReason;
  /** Number of sessions that it followed. */
  readonly subscriptions: number;
}

/** A subscription of a connection: to a session, or to something else under its own name. */
export interface Followed {
  /** Finds the starting place. Sends nothing before `begin`. */
  open(target: Omit<SubscribeTarget, 'sessionId'>): Promise<SubscriptionInfo>;
  begin(): void;
  /** Sends pending events, as far as the receiver takes them. */
  pump(): void;
  close(): void;
  /** Place from which the client would resume; null if it is not known yet. */
  readonly cursor: string | null;
  readonly announcing: boolean;
  readonly caughtUp: boolean;
}

/** Characters of a vector at most, since it comes back in a header. Sessions that do not fit are then told a gap. */
const VECTOR_LENGTH = 2048;
const CHECKPOINT_MS = 250;
/** Interval at which subscriptions are pumped, in case a wake was lost. */
const PUMP_MS = 5000;
/** Most sessions that a connection follows. */
export const MAX_SUBSCRIPTIONS = 1000;
/** Bytes of the connection's own events, such as `subscribed`, that a receiver may leave unread. Events of a log wait in the log. */
const MAX_HELD = 1024 * 1024;

/** One client's stream of events: its subscriptions, heartbeats and limits. The transport decides how to write them. */
export class EventConnection implements Outlet {
  readonly options: EventConnectionOptions;
  readonly form: WireForm<unknown>;
  readonly #sink: Sink;
  readonly #vector: boolean;
  readonly #subscriptions = new Map<string, Followed>();
  readonly #onClose: (connection: EventConnection, ending: ConnectionEnding) => void;
  readonly #report: Report;
  readonly #tally: Tally;
  readonly #diesAt: number;
  /** Set while the receiver lags behind. */
  #stall: Stall | null = null;
  /** Time of the opening; monotonic milliseconds. */
  readonly openedAt = performance.now();
  person: Person;
  /** Callbacks for the end of each subscription, by session. */
  #releases: Map<string, () => void> | null = null;
  #held = 0;
  #heartbeatAt = performance.now();
  #checkpointAt = performance.now();
  #pumpedAt = performance.now();
  #dirty = false;
  #closed = false;

  constructor(
    options: EventConnectionOptions,
    onClose: (connection: EventConnection, ending: ConnectionEnding) => void,
    report: Report,
    tally: Tally = new Tally(),
  ) {
    this.options = options;
    this.form = options.form;
    this.#sink = options.sink;
    this.#vector = options.vector ?? false;
    this.person = options.person;
    this.#onClose = onClose;
    this.#report = report;
    this.#tally = tally;
    this.#diesAt = performance.now() + (options.maxAgeMs ?? Infinity) * (0.8 + Math.random() * 0.4);
  }

  get id(): string {
    return this.options.id;
  }

  get writable(): boolean {
    return this.#stall === null && !this.#closed;
  }

  /** Number of sessions that it follows. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether every event of its subscriptions was written. */
  get caughtUp(): boolean {
    for (const subscription of this.#subscriptions.values()) if (!subscription.caughtUp) return false;
    return true;
  }

  /** Canonical keys of the sessions that it follows. */
  get sessionIds(): readonly string[] {
    return [...this.#subscriptions.keys()];
  }

  gap(reason: GapReason): void {
    this.#tally.gaps[reason] += 1;
  }

  write(payload: unknown, events: number): void {
    if (this.#closed) return;
    this.#tally.events += events;
    this.#tally.bytes += (payload as { readonly byteLength?: number }).byteLength ?? 0;
    if (!this.#sink.write(payload)) this.blocked();
    if (!this.#vector) return;
    this.#dirty = true;
    if (performance.now() - this.#checkpointAt >= CHECKPOINT_MS) this.#checkpoint();
  }

  /** Events of a vector stream carry no ids. Without a heartbeat here, the client would resume in a log that it has left. */
  moved(): void {
    if (this.#vector) this.#checkpoint();
  }

  /** Sends an event to this connection only. */
  send<T extends TransientEventType>(type: T, data: TransientPayload<T>, id?: string): void {
    if (this.#closed) return;
    const payload = this.form.transient(type, data, id);
    const isHeld = this.#stall !== null;
    const { byteLength = 0 } = payload as { readonly byteLength?: number };
    this.#tally.bytes += byteLength;
    if (!this.#sink.write(payload)) this.blocked();
    if (!isHeld) return;
    this.#held += byteLength;
    if (this.#held > MAX_HELD) this.end('slow');
  }

  /** Called when the receiver lags behind with other data on its transport. */
  blocked(): void {
    this.#stall ??= new Stall(this.#sink);
  }

  report(error: unknown, what: string, about: LogFacts = {}): void {
    this.#report(error, what, { ...about, user: this.person.user.id, transport: this.options.transport });
  }

  /**
   * Follows a session. Tell the client the returned info before you call `begin`.
   *
   * @throws GatewayError `QUEUE_FULL` if it follows as many as are allowed, or the reason why the session can't be followed
   */
  follow(
    session: Subscribable,
    target: Omit<SubscribeTarget, 'sessionId'>,
  ): Promise<{ readonly info: SubscriptionInfo; begin(): void }> {
    return this.followAs(session.id, () => new Subscription(session, this), target);
  }

  /** Follows a subscription that is not to a session, under its own name. */
  async followAs(
    id: string,
    make: () => Followed,
    target: Omit<SubscribeTarget, 'sessionId'>,
  ): Promise<{ readonly info: SubscriptionInfo; begin(): void }> {
    // Check here: an earlier check may have passed for several requests at once.
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS && !this.#subscriptions.has(id)) {
      throw new GatewayError({
        code: 'QUEUE_FULL',
        message: `A connection follows at most ${MAX_SUBSCRIPTIONS} sessions`,
      });
    }
    this.#subscriptions.get(id)?.close();
    const subscription = make();
    this.#subscriptions.set(id, subscription);
    const noted = this.options.onFollow?.(id);
    let info: SubscriptionInfo;
    try {
      info = await subscription.open(target);
    } catch (error) {
      // Another request may have subscribed to the session meanwhile and told its client so.
      if (this.#subscriptions.get(id) === subscription) this.unfollow(id);
      else subscription.close();
      throw error;
    }
    // A client may reconnect with the subscription as soon as it knows of it.
    if (noted) await noted;
    this.#tally.resumes[info.resume] += 1;
    if (this.#closed) subscription.close();
    const begin = (): void => {
      // Another request may have repositioned the session meanwhile.
      if (this.#subscriptions.get(id) === subscription) subscription.begin();
    };
    return { info, begin };
  }

  /** Follows one run to its end. */
  async followRun(session: Subscribable, cursor: string, run: AwaitedRun): Promise<void> {
    const subscription = new Subscription(session, this, run);
    this.#subscriptions.set(session.id, subscription);
    await subscription.open({ cursor });
    if (this.#closed) subscription.close();
    else subscription.begin();
  }

  /** Calls back once, when the connection stops following a session or is released from it. */
  onRelease(sessionId: string, released: () => void): void {
    this.#releases ??= new Map();
    this.#releases.set(sessionId, released);
  }

  release(sessionId: string): void {
    const released = this.#releases?.get(sessionId);
    this.#releases?.delete(sessionId);
    released?.();
  }

  unfollow(sessionId: string): void {
    this.release(sessionId);
    this.#subscriptions.get(sessionId)?.close();
    this.#subscriptions.delete(sessionId);
  }

  /** Called when the receiver has caught up. */
  drained(): void {
    if (this.#closed || !this.#stall) return;
    this.#stall = null;
    this.#held = 0;
    this.#pump();
  }

  #pump(): void {
    this.#pumpedAt = performance.now();
    for (const subscription of this.#subscriptions.values()) subscription.pump();
  }

  interrupt(): void {
    this.end('interrupted');
  }

  end(reason: EndReason): void {
    if (this.#closed) return;
    if (reason === 'expired' && this.writable)
      this.send('auth_expired', { message: 'The token has expired, or its access was withdrawn' });
    this.gone(reason);
    try {
      this.#sink.end(reason);
    } catch (error) {
      this.report(error, `ending connection ${this.id}`);
    }
  }

  /** Called when the transport is closed, or about to be. @param reason The default is that the client left. */
  gone(reason: ConnectionEndReason = 'left'): void {
    if (this.#closed) return;
    this.#closed = true;
    const ending = { reason, subscriptions: this.#subscriptions.size };
    for (const sessionId of this.#releases?.keys() ?? []) this.release(sessionId);
    for (const subscription of this.#subscriptions.values()) subscription.close();
    this.#subscriptions.clear();
    this.#onClose(this, ending);
  }

  /** Does periodic work. Called about once a second. */
  tick(now: number): void {
    const { expiresAt } = this.person;
    if (expiresAt !== undefined && Date.now() >= expiresAt) return this.end('expired');
    if (this.#stall) {
      if (this.#stall.isOver(now, this.options.slowClientMs)) this.end('slow');
      return;
    }
    if (now >= this.#diesAt) return this.end('rotate');
    if (now - this.#pumpedAt >= PUMP_MS) this.#pump();
    if (now - this.#heartbeatAt >= this.options.heartbeatMs) this.heartbeat();
    else if (this.#dirty && now - this.#checkpointAt >= CHECKPOINT_MS) this.#checkpoint();
  }

  /** Sends a bookmark: every event up to its cursor is accounted for, so that quiet streams can resume too. */
  heartbeat(): void {
    this.#heartbeatAt = performance.now();
    if (this.#vector) return this.#checkpoint();
    const [only] = this.#subscriptions;
    const cursor = only?.[1].cursor ?? null;
    if (cursor !== null) this.send('heartbeat', { sessionId: only![0], cursor }, cursor);
    else if (!only || only[1].announcing) this.send('heartbeat', {});
    // A session that has not begun has no cursor. Its clients resume from its beginning.
    else this.send('heartbeat', {}, formatVector([[only[0], '']]));
  }

  #checkpoint(): void {
    this.#dirty = false;
    this.#checkpointAt = performance.now();
    const cursors: [string, string][] = [];
    let length = 0;
    for (const [id, subscription] of this.#subscriptions) {
      // A vector without this session would drop it for the client. The previous vector stays valid.
      if (subscription.announcing) return this.send('heartbeat', {});
      const cursor = subscription.cursor ?? '';
      length += id.length + cursor.length + 2;
      if (length <= VECTOR_LENGTH) cursors.push([id, cursor]);
    }
    if (cursors.length < this.#subscriptions.size) cursors.push([UNNAMED, '']);
    this.send('heartbeat', {}, cursors.length > 0 ? formatVector(cursors) : undefined);
  }
}
