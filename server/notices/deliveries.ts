import { cut } from '../../shared/cut.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { ToldNotice } from '../../shared/notices.js';
import { settleWithin, within } from '../async/deadline.js';
import type { NoticeOutcome } from '../diagnostics/gateway-stats.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { DeliveryLanes } from './lanes.js';
import {
  DELIVERY,
  delivering,
  deliveryId,
  deliveryOf,
  idInLine,
  isOrdered,
  type KeptDelivery,
  type KeptNotice,
  lineOf,
} from './notice-record.js';
import { noting } from './outcomes.js';
import { pauseAfter } from './retries.js';
import type { NoticeTally } from './tally.js';
import { Gone, type NoticeTarget } from './target.js';
import { DeliveryOrder } from './turns.js';

/** Attempts of a delivery that others wait for, which take some three minutes. */
const ATTEMPTS_IN_LINE = 4;
/** Milliseconds after which a delivery that others wait for lets them pass, if no gateway that comes to it has its target. */
const AWAY_IN_LINE_MS = 3 * 60_000;
/** Milliseconds after which a delivery is given up if no gateway that comes to it has its target. */
const AWAY_MS = 24 * 60 * 60_000;
/** Shortest and longest time after which a delivery looks for a gateway with its target again, in milliseconds. */
const [SOON_MS, LEASE_MS] = [1000, 15_000];
/** Milliseconds until a waiting delivery checks the line itself, because the gateway that was to pass the turn may have died. */
const WAIT_MS = 10 * 60_000;
/** Attempts to write the end of a delivery with its outcome and the next turn, which other gateways may change meanwhile. */
const TRIES = 16;

/** The outcomes of a delivery that are noted. */
type EndedDelivery = Extract<NoticeOutcome, 'told' | 'gone'>;

/** The collaborators of `Deliveries`. */
export interface DeliveryParts {
  readonly store: Pick<Store, 'records' | 'changeRecords'>;
  readonly targets: ReadonlyMap<string, NoticeTarget>;
  readonly tally: NoticeTally;
  /** The notice as a target is told it. */
  tell(home: SessionRef, kept: KeptNotice, content: boolean): Promise<ToldNotice>;
  /** The events of a notice's run. */
  events(home: SessionRef, kept: KeptNotice): AsyncIterable<GatewayEvent>;
  report: Report;
}

/** A delivery that is due. */
interface Owed {
  readonly record: StoredRecord & { readonly home: SessionRef };
  readonly kept: KeptDelivery;
  /** The time by the store's clock, and the same moment by the monotonic clock. */
  readonly now: number;
  readonly since: number;
}

/** The record changes of new deliveries, and the deliveries among them that wait for their turn. */
interface OwedDeliveries {
  readonly changes: readonly RecordChange[];
  readonly waiting: readonly KeptDelivery[];
}

/** Delivers notices to targets, a bounded number at a time to each. A delivery that finds no free lane is put off. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #turns: DeliveryOrder;
  readonly #lanes = new DeliveryLanes();
  readonly #sending = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#turns = new DeliveryOrder(parts.store);
  }

  /** Deliveries under way. */
  get sending(): number {
    return this.#sending.size;
  }

  /**
   * Prepares deliveries. A delivery to an ordered target waits if the session has an earlier one. Leaves out a delivery that is still owed under the
   * same id, since a receiver that drops repetitions would not see both.
   */
  async owe(home: RecordHome, owed: readonly KeptDelivery[], now: number): Promise<OwedDeliveries> {
    const changes: RecordChange[] = [];
    const waiting: KeptDelivery[] = [];
    for (const kept of owed) {
      const inLine = isOrdered(kept.target);
      const id = inLine ? idInLine(kept) : deliveryId(kept);
      const [before] = await this.#parts.store.records({ home, kind: DELIVERY, id, limit: 1 });
      if (before?.dueAt !== undefined) continue;
      const waits = inLine && (await this.#turns.isTaken(home, kept.target));
      const due = { id, dueAt: waits ? now + WAIT_MS : now, token: before?.token ?? 0 };
      changes.push(delivering({ ...kept, ...(waits && { waits }) }, due));
      if (waits) waiting.push(kept);
    }
    return { changes, waiting };
  }

  /** Passes the turn to deliveries whose predecessor ended before they were written. */
  async waitFor(home: RecordHome, waiting: readonly KeptDelivery[], now: number): Promise<void> {
    for (const { target } of waiting) await this.#turns.mend(home, target, now);
  }

  /** Begins a delivery that is due, or puts it off. The caller does not wait for the target. */
  async handle(record: StoredRecord, now: number): Promise<void> {
    const { home } = record;
    if (home.app === undefined || this.#stopped.signal.aborted) return;
    const owed: Owed = {
      record: { ...record, home },
      kept: deliveryOf(record),
      now,
      since: performance.now(),
    };
    if (owed.kept.waits) {
      await this.#turns.mend(home, owed.kept.target, now);
      return this.#putOff(owed, WAIT_MS);
    }
    const target = this.#parts.targets.get(owed.kept.target);
    if (!target) return this.#leave(owed);
    const lanes = this.#lanes.enter(target.bounds(owed.kept));
    if (typeof lanes === 'number') return this.#putOff(owed, lanes);
    let isLate = false;
    const onLate = (): void => {
      isLate = true;
    };
    const sending = this.#send(owed, target, onLate)
      .catch((error: unknown) => this.#parts.report(error, `noting the delivery ${record.id}`))
      .finally(() => {
        lanes.leave(isLate);
        this.#sending.delete(sending);
      });
    this.#sending.add(sending);
  }

  async #putOff(owed: Owed, ms: number): Promise<void> {
    const { record, kept, now, since } = owed;
    const { id, token } = record;
    const dueAt = Math.ceil(now + (performance.now() - since) + ms);
    await this.#change(owed, [delivering(kept, { id, dueAt, token })]);
  }

  async #send(owed: Owed, target: NoticeTarget, onLate: () => void): Promise<void> {
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
        after: () => {
          onLate();
          aborted.abort(late().error);
        },
      }));
    } catch (error) {
      // Another gateway repeats the deliveries that a stop cuts off.
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof Gone)) return this.#failed(owed, error);
      return this.#end(owed, 'gone');
    }
    return this.#end(owed, isTold === false ? undefined : 'told');
  }

  /** Writes the progress of a delivery. The store may lose it: then the target is told again, under the same id. */
  async #change({ record: { home } }: Owed, changes: readonly RecordChange[]): Promise<boolean> {
    return this.#parts.store.changeRecords(home, changes, { mayRepeat: true });
  }

  async #end(owed: Owed, outcome: EndedDelivery | undefined): Promise<void> {
    const { record, kept } = owed;
    if (outcome) this.#parts.tally.count(kept, outcome);
    const { id, kind, token } = record;
    await this.#settle(owed, [{ id, kind, token }], outcome);
  }

  /** Ends a delivery or takes it out of the line, notes its outcome and passes the turn. Resolves with whether this gateway still had it. */
  async #settle(owed: Owed, changes: readonly RecordChange[], outcome?: EndedDelivery): Promise<boolean> {
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

  /** Leaves a delivery to a gateway that has its target. That is no attempt, unless none has it for a day. */
  async #leave(owed: Owed): Promise<void> {
    const { kept, now } = owed;
    const { target, awaySince = now } = kept;
    const awayMs = Math.max(0, now - awaySince);
    if (awayMs >= AWAY_MS) return this.#failed(owed, new Error(`no gateway has ${target}`), null);
    const dueAt = Math.ceil(now + Math.min(Math.max(awayMs / 4, SOON_MS), LEASE_MS));
    await this.#putBack(owed, { ...kept, awaySince }, { dueAt, passes: awayMs >= AWAY_IN_LINE_MS });
  }

  /** Puts a delivery back. It leaves the line if it `passes` its turn. Resolves with whether this gateway still had it. */
  #putBack(
    owed: Owed,
    kept: KeptDelivery,
    { dueAt, passes }: { readonly dueAt: number | null; readonly passes: boolean },
  ): Promise<boolean> {
    const { id, kind, token } = owed.record;
    const late = deliveryId(kept);
    return id === late || !passes
      ? this.#change(owed, [delivering(kept, { id, dueAt, token })])
      : this.#settle(owed, [{ id, kind, token }, delivering(kept, { id: late, dueAt })]);
  }

  async #failed(owed: Owed, error: unknown, pauseMs = pauseAfter(owed.kept.attempts + 1)): Promise<void> {
    const { kept, now, since } = owed;
    const { tally, report } = this.#parts;
    const at = Math.ceil(now + (performance.now() - since));
    const { awaySince: _, ...others } = kept;
    const attempts = kept.attempts + 1;
    const failed = { at, error: cut(`${error instanceof Error ? error.message : error}`, 500) };
    const dueAt = pauseMs === null ? null : at + pauseMs;
    const passes = dueAt === null || attempts >= ATTEMPTS_IN_LINE;
    if (!(await this.#putBack(owed, { ...others, attempts, failed }, { dueAt, passes }))) return;
    tally.count(kept, dueAt === null ? 'dead' : 'failed');
    const { sessionId } = kept.notice;
    if (dueAt === null)
      report(error, `the notice ${kept.notice.id} was given up for ${kept.target}`, {
        sessionId,
        scope: owed.record.home.scope,
      });
  }

  /** Begins no more deliveries, and gives those under way so many milliseconds to end. */
  async stop(ms: number): Promise<void> {
    await within(Promise.allSettled([...this.#sending]), ms);
    this.#stopped.abort(new Error('The gateway ends'));
    await Promise.allSettled([...this.#sending]);
    for (const target of this.#parts.targets.values()) target.close?.();
  }
}
