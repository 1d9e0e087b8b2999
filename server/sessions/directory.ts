import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { atOnce, ConcurrencyLimit } from '../async/at-once.js';
import { Deadlines } from '../async/deadlines.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { Cluster, TAKEN_AT_ONCE } from '../cluster/cluster.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import { LocalHub } from '../cluster/local-hub.js';
import { asUnavailable, unanswered } from '../log/unavailable.js';
import { Written } from '../log/written.js';
import { keyOf } from '../stores/ref-key.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { AtWork } from './at-work.js';
import { Beginnings } from './beginnings.js';
import { hasConversations } from './conversations.js';
import type { GivenEnvironment, SessionEnvironment } from './environment.js';
import { MessageSender } from './message-sender.js';
import { perform, performAsked } from './routing.js';
import { Session } from './session.js';
import { ANSWERED } from './session-calls.js';
import type { OutputOf, SessionInput } from './session-work.js';
import { SpareSessions } from './spare-sessions.js';
import { Strays } from './strays.js';
import { VIEWED } from './viewers.js';

/** A session without followers and work leaves memory after this long. It comes back on use. */
const IDLE_MS = 60_000;
/** Text of the error report about a session that the store says is held here. */
const HELD_UNKNOWN = 'The store names this gateway as the holder of a session that it does not hold';
/** Sessions swept before others get their turn. */
const SWEEP_SLICE = 50;
/** Time that callers wait beyond the time limit of one store call, in milliseconds. The error of the store call itself arrives first. */
const BEHIND_MS = 250;

/** The sessions that are live in this process. */
export class SessionDirectory {
  readonly sender: MessageSender;
  readonly beginnings: Beginnings;
  readonly strays = new Strays();
  readonly written: Written;
  readonly atWork = new AtWork();
  readonly #env: SessionEnvironment;
  readonly #live = new Map<string, Session>();
  /** Bounds how many sessions are taken up at once, both at the start and later. */
  readonly #taking = new ConcurrencyLimit(TAKEN_AT_ONCE);
  /** Bounds how long callers wait for an answer. The work itself goes on. */
  readonly #deadlines: Deadlines;
  /** The knowledge of what former processes left unfinished. */
  readonly left: { isKnown: boolean; readonly known: Promise<void> };
  readonly #told: () => void;
  /** Set when no more work may start. */
  #ending = false;
  #served: (ref: SessionRef, version?: string) => boolean = () => false;
  /**
   * Sessions that were given up and are still referenced: a long method may come back to its session. Two objects for one session would
   * both write its log.
   */
  readonly #dormant = new Map<string, WeakRef<Session>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (!this.#dormant.get(key)?.deref()) this.#dormant.delete(key);
  });

  constructor(env: GivenEnvironment) {
    let told = (): void => {};
    const known = new Promise<void>((resolve) => {
      told = resolve;
    });
    this.left = { isKnown: false, known };
    this.#told = told;
    this.written = new Written((ms) =>
      env.report.warn?.(`the store takes writes again after ${Math.round(ms / 1000)} s`, {}),
    );
    const spare = new SpareSessions({ ...env, discard: (ref) => this.discard(ref) });
    this.#env = {
      ...env,
      written: this.written,
      atWork: this.atWork,
      cluster: this.#clusterOf(env),
      makeRoom: (scope) => spare.makeRoom(scope),
      serves: (ref, version) => this.#served(ref, version),
      opened: (ref) => this.get(ref),
      unused: (ref) => {
        const session = this.peek(ref);
        if (session) this.forget(session);
      },
    };
    this.cluster.errands.on(VIEWED, (ref) => {
      const { watching = false, any = false } = this.peek(ref)?.viewers ?? {};
      return { watching, any };
    });
    this.cluster.errands.on(ANSWERED, async ({ ref, callId, answer, isDecided }) => {
      const session = this.peek(ref);
      if (!session) throw new GatewayError({ code: 'CALL_NOT_FOUND' });
      if (!isDecided) return session.calls.answered(callId, answer);
      session.calls.decided(callId, answer);
      return true;
    });
    this.#deadlines = new Deadlines(env.limits.storeMs + BEHIND_MS);
    this.sender = new MessageSender(env.store, env.files, this.#deadlines, (app) =>
      env.guardOf(env.app(app)),
    );
    this.beginnings = new Beginnings(this, { ...env, deadlines: this.#deadlines });
  }

  #clusterOf({
    store,
    holder,
    reaches,
    report,
  }: Pick<SessionEnvironment, 'store' | 'holder' | 'reaches' | 'report'>): Cluster {
    return new Cluster({
      ...{ shared: store.shared ?? new LocalHub(), holder, report },
      serve: (ref, input) => this.#serve(ref, input as SessionInput),
      serves: (ref, version) => this.#served(ref, version),
      take: (ref, from) => this.#take(ref, from),
      taken: (ref) => this.peek(ref)?.hold.recheck(),
      orphans: () => store.unfinished(),
      away: () => reaches(false),
      lapsed: () => {
        reaches(true);
        void atOnce([...this.#live.values()], TAKEN_AT_ONCE, ({ hold }) => hold.recheck());
      },
    });
  }

  /** Does the work that another gateway asks for. */
  async #serve(ref: SessionRef, input: SessionInput): Promise<{ readonly output: unknown } | null> {
    const session = this.#served(ref) ? this.get(ref) : this.peek(ref);
    if (!session) return null;
    try {
      return await performAsked(session, input);
    } finally {
      this.forget(session);
    }
  }

  /** The gateways on the same store. */
  get cluster(): Cluster {
    return this.#env.cluster;
  }

  /**
   * Becomes one of the gateways on the store.
   *
   * @param served Whether there is an app for a session, of the version of its active run, so that it may be taken up
   */
  async join(served: (ref: SessionRef, version?: string) => boolean): Promise<void> {
    this.#served = served;
    await this.#env.cluster.join();
  }

  async leave(): Promise<void> {
    await this.#env.cluster.leave();
  }

  /** Whether there is an app for a session, of this version if one is given. */
  serves(ref: SessionRef, version?: string): boolean {
    return this.#served(ref, version);
  }

  /** The session at a place, whether or not it has begun. */
  get(ref: SessionRef): Session {
    const key = keyOf(ref);
    let session = this.#live.get(key);
    if (!session) {
      session = this.#dormant.get(key)?.deref() ?? new Session(ref, this.#env);
      this.#dormant.delete(key);
      this.#live.set(key, session);
      if (this.#ending) session.life.end();
    }
    return session;
  }

  /** A session that has begun and is not closed, to be read. @throws GatewayError `SESSION_NOT_FOUND` */
  existing(ref: SessionRef): MaybePromise<Session> {
    const session = this.get(ref);
    return andThen(session.look(), (log) => this.#begun(session, log));
  }

  /**
   * Does a piece of work in a session.
   *
   * @throws GatewayError `SESSION_NOT_FOUND`, what the work itself throws, and `OVERLOADED` with an unknown outcome if the work takes
   * longer than the time limit of the store
   */
  perform<Input extends SessionInput>(ref: SessionRef, input: Input): MaybePromise<OutputOf<Input>> {
    return this.#deadlines.bound(this.#perform(ref, input), unanswered);
  }

  #perform<Input extends SessionInput>(ref: SessionRef, input: Input): MaybePromise<OutputOf<Input>> {
    const session = this.get(ref);
    const refused = (error: unknown): never => {
      this.forget(session);
      throw error;
    };
    try {
      const done = perform(session, input);
      return isPromise(done) ? done.catch(refused) : done;
    } catch (error) {
      return refused(error);
    }
  }

  #begun(session: Session, log: unknown): Session {
    if (log) return session;
    this.forget(session);
    throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
  }

  /** Closes a session and drops everything that is kept of it. */
  async discard(ref: SessionRef): Promise<void> {
    const session = this.get(ref);
    try {
      await perform(session, { type: 'close', reason: 'discarded' });
    } catch (error) {
      if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    }
    await this.#env.store.remove(ref);
    this.forget(session);
  }

  /**
   * Drops everything that is kept of a session, open or closed, in one step. Its followers receive the end.
   *
   * @throws GatewayError `SESSION_NOT_FOUND` if there is nothing
   */
  delete(ref: SessionRef): Promise<void> {
    return this.#deadlines.bound(this.#delete(ref), unanswered);
  }

  async #delete(ref: SessionRef): Promise<void> {
    const session = this.get(ref);
    try {
      const past = await asUnavailable(() => hasConversations(this.#env.store, ref));
      await perform(session, { type: 'delete', past });
    } finally {
      this.forget(session);
    }
  }

  /** Drops the rest of a closed session, also the notice of a delete. Subscribers that still read it receive a gap. */
  async dropClosed(ref: SessionRef): Promise<void> {
    await asUnavailable(() => this.#env.store.remove(ref));
    const session = this.peek(ref);
    if (!session) return;
    await session.look();
    session.viewers.wake();
    this.forget(session);
  }

  /** The session at a place, if it is live. */
  peek(ref: SessionRef): Session | null {
    return this.#live.get(keyOf(ref)) ?? null;
  }

  /** Stops all sessions from starting another run. Queued messages are left to the next process. */
  startNoMore(): void {
    this.#ending = true;
    for (const session of this.values()) session.life.end();
  }

  /** The number of live sessions. */
  get size(): number {
    return this.#live.size;
  }

  /** The live sessions. */
  values(): Iterable<Session> {
    return this.#live.values();
  }

  /** Drops a session from memory if nobody uses it and it has not begun, as far as is known. */
  forget(session: Session): void {
    if (!session.idle || session.log) return;
    const key = keyOf(session.ref);
    if (!this.#live.delete(key)) return;
    this.atWork.forget(session);
    this.#dormant.set(key, new WeakRef(session));
    this.#gone.register(session, key);
  }

  /** Takes up the work that former processes left unfinished. Asks the store until it tells of it. @param isOver Whether nobody wants it any more */
  async recover(isOver: () => boolean): Promise<void> {
    const unfinished = await this.#unfinished(isOver);
    await atOnce(unfinished, TAKEN_AT_ONCE, async ({ from, ...ref }) => {
      if (this.#served(ref)) await this.#take(ref, from);
    });
  }

  async #unfinished(isOver: () => boolean): Promise<Awaited<ReturnType<Store['unfinished']>>> {
    for (let pauseMs = 50; !isOver(); pauseMs = Math.min(1000, 2 * pauseMs)) {
      try {
        const unfinished = await this.#env.store.unfinished();
        this.left.isKnown = true;
        this.#told();
        return unfinished;
      } catch (error) {
        this.#env.report(error, 'recovering sessions');
        await delay(pauseMs);
      }
    }
    return [];
  }

  #take(ref: SessionRef, from?: string): Promise<void> {
    return this.#taking.run(async () => {
      try {
        await this.get(ref).take(undefined, { from });
      } catch (error) {
        // Another gateway took the session first.
        if (error instanceof HeldElsewhere) return;
        const sessionId = this.#env.format(ref.app, ref.name);
        const { scope, app } = ref;
        this.#env.report(error, `recovering session ${sessionId}`, { sessionId, scope, app });
      }
    });
  }

  /** Gives up sessions that were not used for a while, and applies retention by age. */
  async sweep(): Promise<void> {
    const before = performance.now() - IDLE_MS;
    for (const [i, session] of [...this.#live.values()].entries()) {
      if (i % SWEEP_SLICE === SWEEP_SLICE - 1) await new Promise(setImmediate);
      try {
        await session.held?.log.expire();
        if (!session.idle || session.usedAt > before) continue;
        await session.retire();
        this.forget(session);
      } catch (error) {
        this.#env.report(error, `giving up session ${session.id}`, session.facts);
      }
    }
    await this.#takeStrays();
  }

  async #takeStrays(): Promise<void> {
    const { cluster, holder, format, report } = this.#env;
    if (this.#ending) return;
    const isKnown = (ref: SessionRef): boolean => this.peek(ref)?.life.known ?? false;
    for (const ref of await this.strays.find(cluster.shared, holder, isKnown)) {
      const { scope, app, name } = ref;
      const facts = { sessionId: format(app, name), scope, app };
      report(new Error(HELD_UNKNOWN), `looking for what is held here: session ${facts.sessionId}`, facts);
      if (this.#served(ref)) await this.#take(ref);
    }
  }
}
