import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { SessionRef } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { MessageSender } from './message-sender.js';
import { type OutputOf, perform, type SessionInput } from './perform.js';
import { Session } from './session.js';

/** A session nobody follows and nothing runs in leaves memory after this long; it comes back on use. */
const IDLE_MS = 60_000;
/** Sessions swept before others get their turn. */
const SWEEP_SLICE = 50;

/** The sessions that are live in this process. */
export class SessionDirectory {
  readonly sender: MessageSender;
  readonly #env: SessionEnvironment;
  readonly #live = new Map<string, Session>();
  /**
   * Sessions that were given up and are still in somebody's hands: a method that runs for long may come back to its session. There
   * must be one object a session, or two would write its log in turn.
   */
  readonly #dormant = new Map<string, WeakRef<Session>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (!this.#dormant.get(key)?.deref()) this.#dormant.delete(key);
  });

  constructor(env: Omit<SessionEnvironment, 'opened' | 'unused'>) {
    this.#env = {
      ...env,
      opened: (ref) => this.get(ref),
      unused: (ref) => {
        const session = this.peek(ref);
        if (session) this.forget(session);
      },
    };
    this.sender = new MessageSender(env.store, env.files);
  }

  /** The session at a place, whether or not it has begun. */
  get(ref: SessionRef): Session {
    const key = keyOf(ref);
    let session = this.#live.get(key);
    if (!session) {
      session = this.#dormant.get(key)?.deref() ?? new Session(ref, this.#env);
      this.#dormant.delete(key);
      this.#live.set(key, session);
    }
    return session;
  }

  /** A session that has begun and is not closed, to be read. @throws GatewayError `SESSION_NOT_FOUND` */
  existing(ref: SessionRef): MaybePromise<Session> {
    const session = this.get(ref);
    return andThen(session.look(), (log) => this.#begun(session, log));
  }

  /** Does a piece of work in a session. @throws GatewayError `SESSION_NOT_FOUND`, and what the work itself says */
  perform<Input extends SessionInput>(ref: SessionRef, input: Input): MaybePromise<OutputOf<Input>> {
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

  /** Closes a session and drops all that is kept of it. */
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

  /** The session at a place, if it is live. */
  peek(ref: SessionRef): Session | null {
    return this.#live.get(keyOf(ref)) ?? null;
  }

  /** The live sessions. */
  values(): Iterable<Session> {
    return this.#live.values();
  }

  /** Keeps a session no longer that nobody uses and that has not begun, as far as is known. */
  forget(session: Session): void {
    if (!session.idle || session.log) return;
    const key = keyOf(session.ref);
    if (!this.#live.delete(key)) return;
    this.#dormant.set(key, new WeakRef(session));
    this.#gone.register(session, key);
  }

  /** Takes up what former processes left unfinished. @param served Whether there is an app for it */
  async recover(served: (ref: SessionRef) => boolean): Promise<void> {
    for (const ref of await this.#env.store.unfinished()) {
      if (!served(ref)) continue;
      try {
        await this.get(ref).hold();
      } catch (error) {
        this.#env.report(error, `recovering session ${this.#env.format(ref.app, ref.name)}`);
      }
    }
  }

  /** Gives up what has not been used for a while, and lets retention by age take effect. */
  async sweep(): Promise<void> {
    const before = performance.now() - IDLE_MS;
    for (const [i, session] of [...this.#live.values()].entries()) {
      if (i % SWEEP_SLICE === SWEEP_SLICE - 1) await new Promise(setImmediate);
      try {
        await session.writer?.expire();
        if (!session.idle || session.usedAt > before) continue;
        await session.retire();
        this.forget(session);
      } catch (error) {
        this.#env.report(error, `giving up session ${session.id}`);
      }
    }
  }
}

const keyOf = ({ scope, app, name }: SessionRef): string => `${scope}\n${app}:${name}`;
