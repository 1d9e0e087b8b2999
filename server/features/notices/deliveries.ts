import type { GatewayEvent } from '../../../shared/events.js';
import type { NoticeOutcome, ToldNotice } from '../../../shared/notices/contract.js';
import type { Report } from '../../diagnostics/log-facts.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import {
  DONE,
  type DueKind,
  type DueMoment,
  type DueOutcome,
  type FailedAttempt,
  LEASE_MS,
  LEFT,
} from '../../due/due-kind.js';
import type { RecordChange, RecordHome, StoredRecord } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
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
import { Gone, type NoticeTarget } from './target.js';
import { DeliveryOrder } from './turns.js';

/** Attempts of a notice and of a delivery: some 24 hours together. */
export const ATTEMPTS: Pick<DueKind, 'attempts' | 'backOff' | 'quiet'> = {
  attempts: 10,
  backOff: { fromMs: 5000, toMs: 8 * 60 * 60_000, times: 4 },
  quiet: true,
};
/** Attempts of a delivery that others wait for, which take some two minutes. */
const ATTEMPTS_IN_LINE = 4;
/** Milliseconds after which a delivery is given up if no gateway that comes to it has its target. */
const AWAY_MS = 24 * 60 * 60_000;
/** Shortest time after which a delivery looks for a gateway with its target again, in milliseconds. */
const SOON_MS = 1000;
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
  count(kept: KeptDelivery, outcome: NoticeOutcome): void;
  /** The notice as a target is told it. */
  tell(home: SessionRef, kept: KeptNotice, content: boolean): Promise<ToldNotice>;
  /** The events of a notice's run. */
  events(home: SessionRef, kept: KeptNotice): AsyncIterable<GatewayEvent>;
  report: Report;
}

/** The record changes of new deliveries, and the deliveries among them that wait for their turn. */
interface OwedDeliveries {
  readonly changes: readonly RecordChange[];
  readonly waiting: readonly KeptDelivery[];
}

/** Delivers notices to targets, a bounded number at a time to each. */
export class Deliveries implements DueKind {
  readonly attempts = ATTEMPTS.attempts!;
  readonly backOff = ATTEMPTS.backOff!;
  readonly quiet = true;
  readonly #parts: DeliveryParts;
  readonly #turns: DeliveryOrder;
  #sending = 0;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#turns = new DeliveryOrder(parts.store);
  }

  /** Deliveries under way. */
  get sending(): number {
    return this.#sending;
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
      if (before) continue;
      const waits = inLine && (await this.#turns.isTaken(home, kept.target));
      const due = { id, dueAt: waits ? now + WAIT_MS : now, token: 0 };
      changes.push(delivering({ ...kept, ...(waits && { waits }) }, due));
      if (waits) waiting.push(kept);
    }
    return { changes, waiting };
  }

  /** Passes the turn to deliveries whose predecessor ended before they were written. */
  async waitFor(home: RecordHome, waiting: readonly KeptDelivery[], now: number): Promise<void> {
    for (const { target } of waiting) await this.#turns.mend(home, target, now);
  }

  async wanted(record: StoredRecord, { now }: DueMoment): Promise<true | DueOutcome> {
    const { home } = record;
    const kept = deliveryOf(record);
    if (home.app === undefined) return { drop: 'it belongs to no session' };
    if (!kept.waits) return this.#parts.targets.has(kept.target) || leave(kept, now);
    await this.#turns.mend(home, kept.target, now);
    return { laterMs: WAIT_MS };
  }

  bounds(record: StoredRecord): readonly LaneBound[] {
    const kept = deliveryOf(record);
    return this.#parts.targets.get(kept.target)!.bounds(kept);
  }

  mostMs(record: StoredRecord): number {
    return this.#parts.targets.get(deliveryOf(record).target)!.timeoutMs;
  }

  async do(record: StoredRecord, at: DueMoment): Promise<DueOutcome> {
    const kept = deliveryOf(record);
    this.#sending += 1;
    let outcome: EndedDelivery | undefined;
    try {
      outcome = await this.#send(record.home as SessionRef, kept, at);
    } finally {
      this.#sending -= 1;
    }
    if (outcome) this.#parts.count(kept, outcome);
    const { id, kind, token } = record;
    try {
      await this.#settle(record, [{ id, kind, token }], at.time(), outcome);
      return DONE;
    } catch (error) {
      // The target was told. Nothing that failed is to be counted, and it is told again.
      this.#parts.report(error, `noting the delivery ${id}`);
      return LEFT;
    }
  }

  async #send(home: SessionRef, kept: KeptDelivery, at: DueMoment): Promise<EndedDelivery | undefined> {
    const { tell, events, targets } = this.#parts;
    const target = targets.get(kept.target)!;
    try {
      const told = await tell(home, kept, target.content);
      const isTold = await target.send({
        ...{ home, kept, told, attempt: (kept.attempts ?? 0) + 1, signal: at.signal },
        events: () => events(home, kept),
      });
      return isTold === false ? undefined : 'told';
    } catch (error) {
      if (error instanceof Gone) return 'gone';
      throw error;
    }
  }

  /** Writes a failed attempt. A delivery that others wait for leaves the line after some of them. */
  async failed(
    record: StoredRecord,
    changes: readonly RecordChange[],
    { attempts, dead, at }: FailedAttempt,
  ): Promise<boolean> {
    const { home, kind, id, token } = record;
    const kept = deliveryOf(record);
    const passes = isInLine(record) && (dead || attempts >= ATTEMPTS_IN_LINE);
    const late = changes.map((change) =>
      change.id === id && change.value !== undefined
        ? { ...change, id: deliveryId(kept), token: undefined }
        : change,
    );
    const written = passes
      ? await this.#settle(record, dead ? changes : [{ kind, id, token }, ...late], at)
      : await this.#change(home, changes);
    if (written) this.#parts.count(kept, dead ? 'dead' : 'failed');
    return written;
  }

  givenUp(record: StoredRecord): string {
    const { notice, target } = deliveryOf(record);
    return `the notice ${notice.id} was given up for ${target}`;
  }

  /** Writes the progress of a delivery. The store may lose it: then the target is told again, under the same id. */
  async #change(home: RecordHome, changes: readonly RecordChange[]): Promise<boolean> {
    return this.#parts.store.changeRecords(home, changes, { mayRepeat: true });
  }

  /** Ends a delivery or takes it out of the line, notes its outcome and passes the turn. Resolves with whether this gateway still had it. */
  async #settle(
    record: StoredRecord,
    changes: readonly RecordChange[],
    at: number,
    outcome?: EndedDelivery,
  ): Promise<boolean> {
    const { home } = record;
    const { attempts = 0, ...kept } = deliveryOf(record);
    const inLine = isInLine(record);
    for (let tries = 0; tries <= TRIES; tries++) {
      const isAlone = tries === TRIES;
      const passing = inLine && !isAlone ? await this.#turns.passing(home, kept.target, record.id, at) : [];
      const noted =
        outcome && !isAlone
          ? [
              await noting(this.#parts.store, home, {
                kept: { ...kept, attempts: attempts + 1 },
                outcome,
                at,
              }),
            ]
          : [];
      if (!(await this.#change(home, [...changes, ...noted, ...passing]))) continue;
      if (inLine && passing.length === 0) await this.#turns.mend(home, kept.target, at);
      return true;
    }
    return false;
  }
}

/** Leaves a delivery to a gateway that has its target, unless none has it for a day. */
function leave({ target, owedAt, failed, retriedAt = 0 }: KeptDelivery, now: number): DueOutcome {
  const awayMs = Math.max(0, now - Math.max(owedAt, failed?.at ?? 0, retriedAt));
  if (awayMs >= AWAY_MS) return { dead: `no gateway has ${target}` };
  return { laterMs: Math.min(Math.max(awayMs / 4, SOON_MS), LEASE_MS) };
}

/** Whether others wait for a delivery. */
const isInLine = (record: StoredRecord): boolean => record.id.startsWith(lineOf(deliveryOf(record).target));
