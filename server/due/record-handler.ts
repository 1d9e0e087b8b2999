import { startDeadline, within } from '../async/deadline.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { nextTurn } from '../async/turn.js';
import type { DueCount } from '../diagnostics/gateway-stats.js';
import type { Report } from '../diagnostics/log-facts.js';
import { FactTally } from '../diagnostics/tally.js';
import { StoreError } from '../stores/append.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { attemptsOf, mostAttempts, pauseAfter, putBack, reasonOf } from './attempts.js';
import { BoundedLanes, type TakenLanes } from './bounded-lanes.js';
import { burying } from './dead.js';
import { type DueKind, type DueMoment, type DueOutcome, LEASE_MS } from './due-kind.js';

/** The longest time of a handling unless its kind says another, in milliseconds. */
const HANDLED_MS = 60_000;
/** Attempts to write the outcome of a record that is taken again meanwhile. */
const TRIES = 3;

/** A record that is being handled. */
interface HandledRecord {
  readonly record: StoredRecord;
  readonly kind: DueKind;
  readonly at: DueMoment;
  readonly aborted: AbortController;
}

/** Options of `RecordHandler`. */
export interface HandlerOptions {
  readonly store: Pick<Store, 'records' | 'changeRecords'>;
  readonly report: Report;
  /** The key of a session. */
  format(session: SessionRef): string;
}

/** Handles each due record as its kind says, and writes what is to become of it. */
export class RecordHandler {
  readonly #store: Pick<Store, 'records' | 'changeRecords'>;
  readonly #report: Report;
  readonly #format: HandlerOptions['format'];
  readonly #expect: (at: number) => void;
  readonly #kinds = new Map<string, DueKind>();
  readonly #bounded = new BoundedLanes();
  readonly #tally = new FactTally<Omit<DueCount, 'count'>>();
  /** Work that has lanes of its own. */
  readonly #aside = new Map<Promise<void>, AbortController>();
  #hasEnded = false;

  /** @param expect Expects a record to fall due at a time of the store's clock */
  constructor({ store, report, format }: HandlerOptions, expect: (at: number) => void) {
    this.#store = store;
    this.#report = report;
    this.#format = format;
    this.#expect = expect;
  }

  on(name: string, kind: DueKind): void {
    this.#kinds.set(name, kind);
  }

  get outcomes(): readonly DueCount[] {
    return this.#tally.counts;
  }

  /** Waits so many milliseconds for work that has lanes of its own, and cuts it off. */
  async stop(ms: number): Promise<void> {
    await within(Promise.all(this.#aside.keys()), ms);
    this.#hasEnded = true;
    for (const aborted of this.#aside.values()) aborted.abort(new Error('The gateway ends'));
    await Promise.all(this.#aside.keys());
  }

  /** Resolves once the next record of the home may be handled. */
  async handle(record: StoredRecord, now: number): Promise<void> {
    const kind = this.#kinds.get(record.kind);
    if (!kind) return;
    const since = performance.now();
    const aborted = new AbortController();
    const time = (): number => Math.ceil(now + performance.now() - since);
    const handling = { record, kind, at: { now, time, signal: aborted.signal }, aborted };
    let wanted: true | DueOutcome;
    try {
      const asked = kind.wanted?.(record, handling.at) ?? true;
      wanted = isPromise(asked) ? await inTime(handling, HANDLED_MS, () => asked) : asked;
      // The time of the turn in which it was asked is over.
      if (isPromise(asked)) await nextTurn();
    } catch (error) {
      return this.#failed(handling, error);
    }
    if (wanted !== true) return this.#end(handling, wanted);
    const lanes = kind.bounds ? this.#bounded.enter(kind.bounds(record)) : null;
    if (typeof lanes === 'number') return this.#end(handling, { laterMs: lanes });
    const done = this.#do(handling, lanes);
    if (!lanes) return done;
    const aside = done.finally(() => this.#aside.delete(aside));
    this.#aside.set(aside, aborted);
  }

  async #do(handling: HandledRecord, lanes: TakenLanes | null): Promise<void> {
    const { record, kind, at } = handling;
    let isLate = false;
    try {
      const mostMs = kind.mostMs?.(record) ?? HANDLED_MS;
      const outcome = await inTime(handling, mostMs, () => kind.do(record, at));
      await this.#end(handling, outcome);
    } catch (error) {
      isLate = error instanceof Late;
      await this.#failed(handling, error);
    } finally {
      lanes?.leave(isLate);
    }
  }

  async #end(handling: HandledRecord, outcome: DueOutcome): Promise<void> {
    const { record, at } = handling;
    const { kind, id, owner, value } = record;
    if ('done' in outcome) return;
    if ('dead' in outcome) return this.#bury(handling, new Error(outcome.dead));
    await this.#noting(record, async () => {
      if ('drop' in outcome) {
        if (await this.#write(record, (token) => [{ kind, id, token }]))
          this.#tally.count({ kind, outcome: 'dropped' });
        // Nothing is written for what the lease does by itself.
      } else if (outcome.laterMs !== LEASE_MS) {
        const dueAt = at.time() + Math.ceil(outcome.laterMs);
        await this.#write(record, (token) => [{ kind, id, owner, dueAt, value, token }]);
        this.#expect(dueAt);
      }
    });
  }

  /** Counts an attempt that has failed. */
  async #failed(handling: HandledRecord, error: unknown): Promise<void> {
    const { record, kind, at } = handling;
    // Another gateway repeats what the end of this one cuts off.
    if (this.#hasEnded) return;
    const what = `handling the ${record.kind} ${record.id}, which is due again`;
    if (mostAttempts(kind) === Number.POSITIVE_INFINITY) return this.#report(error, what);
    const attempts = attemptsOf(record) + 1;
    const isRefused = error instanceof StoreError && error.code === 'REFUSED';
    if (attempts >= mostAttempts(kind) || isRefused) return this.#bury(handling, error);
    await this.#noting(record, async () => {
      const time = at.time();
      const attempted = { attempts, failed: { at: time, error: reasonOf(error) } };
      const dueAt = time + pauseAfter(attempts, kind);
      const made = (token: number) => [putBack(record, attempted, { dueAt, token })];
      const attempt = { error, attempts, dead: false, at: time };
      if (!(await (kind.failed?.(record, made(record.token), attempt) ?? this.#write(record, made)))) return;
      this.#expect(dueAt);
      this.#tally.count({ kind: record.kind, outcome: 'failed' });
      if (!kind.quiet) this.#report(error, what);
    });
  }

  /** Gives a record up, and keeps it aside. */
  async #bury({ record, kind, at }: HandledRecord, error: unknown): Promise<void> {
    const { kind: name, id, home } = record;
    await this.#noting(record, async () => {
      const attempts = attemptsOf(record) + 1;
      const time = at.time();
      const failed = { at: time, error: reasonOf(error) };
      const dead = burying(record, { attempts, failed }, kind.deadMs);
      const made = (token: number): readonly RecordChange[] => [{ kind: name, id, token }, dead];
      const attempt = { error, attempts, dead: true, at: time };
      if (!(await (kind.failed?.(record, made(record.token), attempt) ?? this.#write(record, made)))) return;
      this.#tally.count({ kind: name, outcome: 'dead' });
      const { scope, app } = home;
      this.#report(error, kind.givenUp?.(record) ?? `the ${name} ${id} was given up`, {
        ...{ scope, ...(app !== undefined && { app, sessionId: this.#format(home as SessionRef) }) },
      });
    });
  }

  /** Writes an outcome. If the store can't take it, the lease makes the record due again. */
  async #noting({ kind, id }: StoredRecord, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#report(error, `noting what became of the ${kind} ${id}, which is due again`);
    }
  }

  /**
   * Writes changes of a record, unless somebody has written it since. Slow work may outlast its lease, and the record is then taken again: its content is
   * the same, and only the token differs.
   */
  async #write(record: StoredRecord, made: (token: number) => readonly RecordChange[]): Promise<boolean> {
    const { home, kind, id, value } = record;
    let { token } = record;
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.#store.changeRecords(home, made(token), { mayRepeat: true })) return true;
      const [now] = await this.#store.records({ home, kind, id, limit: 1 });
      if (now?.value !== value || now.token === token) return false;
      ({ token } = now);
    }
    return false;
  }
}

/** A handling took too long. */
class Late extends Error {}

/** Does a part of a handling, which is aborted after so many milliseconds. */
async function inTime<Result>(
  { aborted }: HandledRecord,
  ms: number,
  work: () => MaybePromise<Result>,
): Promise<Result> {
  const { signal } = aborted;
  const cut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const cancel = startDeadline(ms, () => aborted.abort(new Late(`no answer in ${ms} ms`)));
  try {
    return await Promise.race([(async () => work())(), cut]);
  } finally {
    cancel();
  }
}
