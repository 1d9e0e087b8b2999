import type { ToldNotice } from '../../shared/notices.js';
import { settleWithin, within } from '../async/deadline.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef, Store } from '../stores/store.js';
import { Lanes } from './lanes.js';
import {
  DELIVERY,
  delivering,
  deliveryOf,
  type KeptDelivery,
  type KeptNotice,
  NOTICE,
  noticeOf,
} from './notice-record.js';
import { pauseAfter } from './retries.js';
import type { Tally } from './tally.js';
import { Gone, type Target } from './target.js';

/** How long a later notice of a session waits for an earlier one that fails, in milliseconds. */
const ORDER_MS = 10 * 60_000;
/** How soon it looks again whether an earlier one is told. */
const LOOK_MS = 200;
/** Of one session, records that are looked at for their order. */
const LOOKED_AT = 100;

/** What deliveries are made with. */
export interface DeliveryParts {
  readonly store: Pick<Store, 'records' | 'changeRecords'>;
  readonly targets: ReadonlyMap<string, Target>;
  readonly tally: Tally;
  /** What is told of a notice. */
  tell(home: SessionRef, kept: KeptNotice, content: boolean): Promise<ToldNotice>;
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

/** Tells targets what they are owed: so many at a time each, and what finds no place comes again. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #lanes = new Map<string, Lanes>();
  readonly #sending = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** How many are on their way now. */
  get sending(): number {
    return this.#sending.size;
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
    const waitMs = target.isOrdered ? await this.#behind(owed, target) : 0;
    if (waitMs > 0) return this.#putOff(owed, waitMs);
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

  /** How long it waits for earlier notices of its session, in milliseconds; 0 where there are none, or they fail for too long. */
  async #behind({ record, kept, now }: Owed, target: Target): Promise<number> {
    const { store } = this.#parts;
    const list = (kind: string) => store.records({ home: record.home, kind, limit: LOOKED_AT });
    const isBefore = (other: KeptNotice): boolean => {
      const [a, b] = [other.notice.at - kept.notice.at, (other.place?.seq ?? 0) - (kept.place?.seq ?? 0)];
      return (a < 0 || (a === 0 && b < 0)) && now - other.notice.at < ORDER_MS;
    };
    const [notices, deliveries] = await Promise.all([list(NOTICE), list(DELIVERY)]);
    const owed = notices.map(noticeOf).filter((other) => target.wants(other.notice.kind) && isBefore(other));
    const others = deliveries
      .filter(({ id, dueAt }) => id !== record.id && dueAt !== undefined)
      .map((other) => ({ dueAt: other.dueAt!, ...deliveryOf(other) }))
      .filter((other) => other.target === kept.target && isBefore(other));
    const retried = others.filter(({ attempts }) => attempts > 0);
    if (retried.length > 0)
      return Math.max(LOOK_MS, Math.min(...retried.map(({ dueAt }) => dueAt)) - now + LOOK_MS);
    return LOOK_MS * (owed.length + others.length);
  }

  async #putOff({ record, kept, now, since }: Owed, ms: number): Promise<void> {
    const { id, token } = record;
    const dueAt = Math.ceil(now + (performance.now() - since) + ms);
    await this.#parts.store.changeRecords(record.home, [delivering(kept, { id, dueAt, token })]);
  }

  async #send(owed: Owed, target: Target): Promise<void> {
    const { record, kept } = owed;
    const { tell, tally } = this.#parts;
    const attempt = kept.attempts + 1;
    const aborted = new AbortController();
    const late = (): { readonly error: Error } => ({
      error: new Error(`no answer in ${target.timeoutMs} ms`),
    });
    try {
      const told = await tell(record.home, kept, target.content);
      const signal = AbortSignal.any([aborted.signal, this.#stopped.signal]);
      await settleWithin(target.send({ kept, told, attempt, signal }), target.timeoutMs, () => ({
        ...late(),
        after: () => aborted.abort(late().error),
      }));
    } catch (error) {
      // What was under way as its gateway ended is begun again by another.
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof Gone)) return this.#failed(owed, error);
      tally.count(kept, 'gone');
      await this.#drop(owed);
      return;
    }
    tally.count(kept, 'told');
    await this.#drop(owed);
  }

  async #drop({ record: { home, id, kind, token } }: Owed): Promise<void> {
    await this.#parts.store.changeRecords(home, [{ id, kind, token }]);
  }

  async #failed(owed: Owed, error: unknown): Promise<void> {
    const { record, kept, now, since } = owed;
    const { store, tally, report } = this.#parts;
    const at = Math.ceil(now + (performance.now() - since));
    const attempts = kept.attempts + 1;
    const pauseMs = pauseAfter(attempts);
    const failed = { at, error: `${error instanceof Error ? error.message : error}`.slice(0, 500) };
    const { id, token } = record;
    const dueAt = pauseMs === null ? null : at + pauseMs;
    const isNoted = await store.changeRecords(record.home, [
      delivering({ ...kept, attempts, failed }, { id, dueAt, token }),
    ]);
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
