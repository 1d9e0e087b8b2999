import type { GatewayEvent } from '../../shared/events.js';
import type { ToldNotice } from '../../shared/notices.js';
import { settleWithin, within } from '../async/deadline.js';
import type { NoticeOutcome } from '../diagnostics/gateway-stats.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { SessionRef, Store } from '../stores/store.js';
import { Lanes } from './lanes.js';
import {
  delivering,
  deliveryId,
  deliveryOf,
  idInLine,
  type KeptDelivery,
  type KeptNotice,
  lineOf,
} from './notice-record.js';
import { noting } from './outcomes.js';
import { pauseAfter } from './retries.js';
import type { Tally } from './tally.js';
import { Gone, type Target } from './target.js';
import { Turns } from './turns.js';

/** Attempts of one that others wait for, which take some three minutes. */
const ATTEMPTS_IN_LINE = 4;
/** How long one waits at most before it looks itself whose turn it is: a gateway may have died that was to give it the turn, in milliseconds. */
const WAIT_MS = 10 * 60_000;
/** How often what goes with the end of a delivery is tried to be written with it: what other gateways end may change it meanwhile. */
const TRIES = 16;

/** How a delivery ends that is noted. */
type Ended = Extract<NoticeOutcome, 'told' | 'gone'>;

/** What deliveries are made with. */
export interface DeliveryParts {
  readonly store: Pick<Store, 'records' | 'changeRecords'>;
  readonly targets: ReadonlyMap<string, Target>;
  readonly tally: Tally;
  /** What is told of a notice. */
  tell(home: SessionRef, kept: KeptNotice, content: boolean): Promise<ToldNotice>;
  /** The events of a notice's run. */
  events(home: SessionRef, kept: KeptNotice): AsyncIterable<GatewayEvent>;
  report: Report;
}

/** A delivery that is due. */
interface Owed {
  readonly record: StoredRecord & { readonly home: SessionRef };
  readonly kept: KeptDelivery;
  /** By the store's clock, and when it was so by the monotonic one. */
  readonly now: number;
  readonly since: number;
}

/** What is to be written so that targets are owed a notice, and which of them wait for their turn. */
interface Owing {
  readonly changes: readonly RecordChange[];
  readonly waiting: readonly KeptDelivery[];
}

/** Tells targets what they are owed: so many at a time each, and what finds no place comes again. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #turns: Turns;
  readonly #lanes = new Map<string, Lanes>();
  readonly #sending = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#turns = new Turns(parts.store);
  }

  /** How many are on their way now. */
  get sending(): number {
    return this.#sending.size;
  }

  /** What targets are owed from now on. Of those that are told in order, one that finds another before it waits. */
  async owe(home: RecordHome, owed: readonly KeptDelivery[], now: number): Promise<Owing> {
    const changes: RecordChange[] = [];
    const waiting: KeptDelivery[] = [];
    for (const kept of owed) {
      const isOrdered = this.#parts.targets.get(kept.target)?.isOrdered ?? false;
      const id = isOrdered ? idInLine(kept) : deliveryId(kept);
      const waits = isOrdered && (await this.#turns.isTaken(home, kept.target));
      const due = { id, dueAt: waits ? now + WAIT_MS : now, token: 0 };
      changes.push(delivering({ ...kept, ...(waits && { waits }) }, due));
      if (waits) waiting.push(kept);
    }
    return { changes, waiting };
  }

  /** Looks whether what they wait for has ended before that was written. */
  async waitFor(home: RecordHome, waiting: readonly KeptDelivery[], now: number): Promise<void> {
    for (const { target } of waiting) await this.#turns.mend(home, target, now);
  }

  /** Begins a delivery that is due, or puts it off. Whoever works off what is due does not wait for a target. */
  async handle(record: StoredRecord, now: number): Promise<void> {
    const { home } = record;
    if (home.app === undefined || this.#stopped.signal.aborted) return;
    const owed: Owed = {
      record: { ...record, home },
      kept: deliveryOf(record),
      now,
      since: performance.now(),
    };
    const target = this.#parts.targets.get(owed.kept.target);
    // Another gateway may have it.
    if (!target) return this.#failed(owed, new Error(`notify has no ${owed.kept.target}`));
    if (owed.kept.waits) {
      await this.#turns.mend(home, target.name, now);
      return this.#putOff(owed, WAIT_MS);
    }
    const lanes = this.#lanesOf(target);
    const leave = lanes.enter();
    if (!leave) return this.#putOff(owed, lanes.later());
    const sending = this.#send(owed, target)
      .catch((error: unknown) => this.#parts.report(error, `noting the delivery ${record.id}`))
      .finally(() => {
        leave();
        this.#sending.delete(sending);
      });
    this.#sending.add(sending);
  }

  #lanesOf({ name, most }: Target): Lanes {
    const lanes = this.#lanes.get(name) ?? new Lanes(most);
    this.#lanes.set(name, lanes);
    return lanes;
  }

  async #putOff(owed: Owed, ms: number): Promise<void> {
    const { record, kept, now, since } = owed;
    const { id, token } = record;
    const dueAt = Math.ceil(now + (performance.now() - since) + ms);
    await this.#change(owed, [delivering(kept, { id, dueAt, token })]);
  }

  async #send(owed: Owed, target: Target): Promise<void> {
    const { record, kept } = owed;
    const { tell, events } = this.#parts;
    const attempt = kept.attempts + 1;
    const aborted = new AbortController();
    const late = (): { readonly error: Error } => ({
      error: new Error(`no answer in ${target.timeoutMs} ms`),
    });
    let isTold: unknown;
    try {
      const told = await tell(record.home, kept, target.content);
      const signal = AbortSignal.any([aborted.signal, this.#stopped.signal]);
      const sending = target.send({
        ...{ kept, told, attempt, signal },
        events: () => events(record.home, kept),
      });
      isTold = await settleWithin(sending, target.timeoutMs, () => ({
        ...late(),
        after: () => aborted.abort(late().error),
      }));
    } catch (error) {
      // What was under way as its gateway ended is begun again by another.
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof Gone)) return this.#failed(owed, error);
      return this.#end(owed, 'gone');
    }
    return this.#end(owed, isTold === false ? undefined : 'told');
  }

  /** What a gateway notes of a delivery may be forgotten: it is told again then, under the same id. */
  async #change({ record: { home } }: Owed, changes: readonly RecordChange[]): Promise<boolean> {
    return this.#parts.store.changeRecords(home, changes, { mayRepeat: true });
  }

  async #end(owed: Owed, outcome: Ended | undefined): Promise<void> {
    const { record, kept } = owed;
    if (outcome) this.#parts.tally.count(kept, outcome);
    const { id, kind, token } = record;
    await this.#settle(owed, [{ id, kind, token }], outcome);
  }

  /**
   * Ends a delivery, or has it leave the line: notes what became of it, and gives the turn to the next. Whether it was still this
   * gateway's.
   */
  async #settle(owed: Owed, changes: readonly RecordChange[], outcome?: Ended): Promise<boolean> {
    const { record, kept, now, since } = owed;
    const { home } = record;
    const at = Math.ceil(now + (performance.now() - since));
    const isInLine = record.id.startsWith(lineOf(kept.target));
    const attempts = kept.attempts + 1;
    for (let tries = 0; tries <= TRIES; tries++) {
      const isAlone = tries === TRIES;
      const passing = isInLine && !isAlone ? await this.#turns.passing(home, kept.target, record.id, at) : [];
      const noted =
        outcome && !isAlone
          ? [await noting(this.#parts.store, home, { kept: { ...kept, attempts }, outcome, at })]
          : [];
      if (!(await this.#change(owed, [...changes, ...noted, ...passing]))) continue;
      if (isInLine && passing.length === 0) await this.#turns.mend(home, kept.target, at);
      return true;
    }
    return false;
  }

  async #failed(owed: Owed, error: unknown): Promise<void> {
    const { record, kept, now, since } = owed;
    const { tally, report } = this.#parts;
    const at = Math.ceil(now + (performance.now() - since));
    const attempts = kept.attempts + 1;
    const pauseMs = pauseAfter(attempts);
    const failed = { at, error: `${error instanceof Error ? error.message : error}`.slice(0, 500) };
    const dueAt = pauseMs === null ? null : at + pauseMs;
    const { id, kind, token } = record;
    const again = { ...kept, attempts, failed };
    const late = deliveryId(kept);
    const isNoted =
      id === late || attempts < ATTEMPTS_IN_LINE
        ? await this.#change(owed, [delivering(again, { id, dueAt, token })])
        : await this.#settle(owed, [{ id, kind, token }, delivering(again, { id: late, dueAt })]);
    if (!isNoted) return;
    tally.count(kept, dueAt === null ? 'dead' : 'failed');
    const { sessionId } = kept.notice;
    if (dueAt === null)
      report(error, `the notice ${kept.notice.id} was given up for ${kept.target}`, { sessionId });
  }

  /** Begins nothing more. What is under way has so many milliseconds to end. */
  async stop(ms: number): Promise<void> {
    await within(Promise.allSettled([...this.#sending]), ms);
    this.#stopped.abort(new Error('The gateway ends'));
    await Promise.allSettled([...this.#sending]);
    for (const target of this.#parts.targets.values()) target.close?.();
  }
}
