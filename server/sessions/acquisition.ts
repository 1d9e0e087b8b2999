import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import { childEndsOf } from '../held/child-ends.js';
import { heldAfter } from '../held/held-run.js';
import { HeldSession } from '../held/held-session.js';
import { recover, recoverToEnd } from '../held/recovery.js';
import { LeftRuns } from '../held/run-record.js';
import { newEpoch } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { LogOptions } from '../log/log-options.js';
import type { LogView } from '../log/log-view.js';
import { LogWriter } from '../log/log-writer.js';
import type { RunSender } from '../runs/live-run.js';
import { storeTime } from '../stores/skew.js';
import type { Acquired, NewSession } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { type FirstContent, fill } from './first-content.js';
import type { Hold } from './hold.js';
import type { Session } from './session.js';

/** The user who begins a session that does not exist, and its first content. */
export interface Beginning extends Pick<NewSession, 'forkedFrom'> {
  readonly userId: string | undefined;
  /** Also given to a session that has no events, as a beginning that failed leaves it. */
  readonly content?: FirstContent;
  /** The run that is about to be accepted. */
  readonly runId?: string;
  /** Called once the session has begun, or was given its first content. */
  readonly begun?: () => void;
}

/** How an existing session is taken. */
export interface HoldOptions {
  /** A dead holder that the session may be taken from. */
  readonly from?: string | undefined;
  /** The session is taken only to be deleted, so the runs left in it do not start again. @default false */
  readonly toEnd?: boolean | undefined;
}

/** Acquires a session from the store, and makes of it what it is while it is held: its writer, and the runs that were left in it. */
export class Acquisition {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #hold: Hold;

  constructor(session: Session, env: SessionEnvironment, hold: Hold) {
    this.#session = session;
    this.#env = env;
    this.#hold = hold;
  }

  /**
   * Acquires the session. If none is open, `create` begins one; without `create` the result is null.
   *
   * @throws HeldElsewhere, LimitError, StoreError
   */
  acquire(create: Beginning | undefined, { from, toEnd }: HoldOptions): MaybePromise<HeldSession | null> {
    const { store, holder, cluster } = this.#env;
    const { ref } = this.#session;
    const options = {
      holder,
      taken: (): void => void this.#hold.recheck(),
      ...(from !== undefined && { from }),
    };
    return andThen(store.acquire(ref, options), (acquired) => {
      if (from && acquired.kind === 'acquired') void cluster.tellTaken(ref, from);
      if (acquired.kind !== 'absent' || !create)
        return andThen(toEnd ? undefined : this.#passOn(acquired), () =>
          this.#adopt(acquired, create, { toEnd }),
        );
      return andThen(toEnd ? undefined : this.#room(), () => {
        const { userId, forkedFrom } = create;
        const anew = {
          epoch: newEpoch(),
          ...(userId !== undefined && { userId }),
          ...(forkedFrom && { forkedFrom }),
        };
        return andThen(store.acquire(ref, { create: anew, ...options }), (acquired) =>
          this.#adopt(acquired, create, { beginning: create.runId, toEnd }),
        );
      });
    });
  }

  /** Leaves a session whose run is of another version of its app to a gateway that has that version. @throws HeldElsewhere */
  #passOn(acquired: Acquired): MaybePromise<void> {
    if (acquired.kind !== 'acquired') return;
    const { ref } = this.#session;
    const { term, activity } = acquired.head;
    const { cluster, serves, store, report } = this.#env;
    const { version } = activity;
    if (version === undefined || serves(ref, version)) return;
    return cluster.carrierOf(ref, version).then(async (carrier) => {
      if (carrier === undefined) return;
      await store.release(ref, term);
      const failed = (error: unknown): void =>
        report(error, 'handing a session to another gateway', this.#session.facts);
      cluster.giveTo(carrier, ref).catch(failed);
      throw new HeldElsewhere(carrier);
    });
  }

  /** Sees that the scope may have another open session. Counting takes as long as there are sessions. @throws LimitError */
  #room(): MaybePromise<void> {
    const { scope } = this.#session.ref;
    const allowed = this.#env.sessionsIn(scope);
    if (allowed === Number.POSITIVE_INFINITY) return;
    return andThen(this.#env.store.count(scope), (count) =>
      count < allowed ? undefined : this.#makeRoom(allowed),
    );
  }

  async #makeRoom(allowed: number): Promise<void> {
    if (await this.#env.makeRoom(this.#session.ref.scope)) return;
    // No time after which it would go: waiting closes no session.
    throw new LimitError('limits.sessionsPerUser', {
      code: 'RATE_LIMITED',
      message: `A user can have ${allowed} open sessions; close one first`,
    });
  }

  #adopt(
    acquired: Acquired,
    create: Beginning | undefined,
    {
      beginning,
      toEnd = false,
    }: { readonly beginning?: string | undefined; readonly toEnd?: boolean | undefined },
  ): MaybePromise<HeldSession | null> {
    if (acquired.kind === 'absent') return null;
    if (acquired.kind === 'owned') throw new HeldElsewhere(acquired.holder);
    const { head, record, openRuns, created } = acquired;
    const session = this.#session;
    const { reader } = session;
    const view = reader.viewOf(head);
    const opened = LogWriter.open(this.#env.store, view, head.term, {
      retention: this.#env.limits.retention,
      moderation: this.#env.moderation,
      now: this.#env.now,
      arrivals: record.arrivals,
      listener: this.#hold,
      recordsOf: this.#recordsOf(view, head.term),
    });
    const content = head.head === 0 ? create?.content : undefined;
    const { store } = this.#env;
    const filled = content
      ? andThen(opened, (log) => fill(log, store, content, record.userId).then(() => log))
      : opened;
    return andThen(filled, (log) => {
      if (created || content) create?.begun?.();
      if (this.#hold.life.stage.name === 'leaving') return this.#returned(log);
      const held = new HeldSession(session, log, this.#env, this.#hold);
      this.#hold.life.become({ name: 'held', held });
      reader.show(view);
      reader.watch();
      if (created && !toEnd) {
        const { id: sessionId, ref } = session;
        const user = record.userId === undefined ? {} : { userId: record.userId };
        this.#env.notify({ type: 'session:created', sessionId, app: ref.app, ...user });
      } else {
        const left = new LeftRuns(openRuns, record.userId);
        if (toEnd) recoverToEnd(held, left);
        else {
          session.calls.recover(log);
          recover(held, left);
        }
      }
      void session.results.learn(beginning);
      session.viewers.wake();
      return held;
    });
  }

  /** Gives back a session that was given up while it was being taken. */
  async #returned(log: LogWriter): Promise<never> {
    log.abandon();
    await this.#env.store.release(this.#session.ref, log.term);
    return this.#hold.elsewhere();
  }

  /** Makes what is owed because of events, in the same append: runs after children, and what features add. */
  #recordsOf({ ref: log }: LogView, term: number): LogOptions['recordsOf'] {
    const { addedRecords, store, report } = this.#env;
    const { id: sessionId } = this.#session;
    return (change) => {
      // The queue no longer has a run that ends.
      const senderOf = (runId: string): RunSender | null =>
        (change.ends.find(({ id }) => id === runId) ?? this.#hold.life.held?.runs.find(runId))?.request ??
        null;
      const ends = [
        ...childEndsOf(change, log.epoch, storeTime(store), senderOf),
        ...heldAfter(change.events, change.before),
      ];
      if (addedRecords.length === 0) return ends;
      const cause = {
        ...{ log, term, sessionId, storeTime: (at: number) => storeTime(store, at), senderOf },
        ...change,
      };
      const added = addedRecords.flatMap((recordsOf) => {
        try {
          return recordsOf(cause);
        } catch (error) {
          // Lose what a feature makes of the events rather than the events.
          report(error, 'making records of events', this.#session.facts);
          return [];
        }
      });
      return [...ends, ...added];
    };
  }
}
