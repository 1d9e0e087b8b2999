import { isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Logger } from '../config/config.js';
import type { Act, AuditEntry } from '../diagnostics/audit-entry.js';
import { channels } from '../diagnostics/channels.js';
import { newAuditId } from '../ids.js';
import { RateLimiter } from '../limits/token-bucket.js';
import type { SessionRef } from '../stores/stored.js';

/** Refused acts of one person that are told in a second, with bursts of twenty. A guesser must not fill the trail. */
const REFUSED_PER_SECOND = 1;
const REFUSED_BURST = 20;
/** Time in which the reading of one session of somebody else is one act, in milliseconds. */
const OVERSEEN_MS = 3_600_000;
/** Readings that are remembered. The oldest are forgotten first, and then told again. */
const OVERSEEN = 10_000;

/** Longest name or id that is noted, in characters. */
const LONGEST = 256;

/** Whether something that is given as a name or id is noted. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST;

export interface AuditOptions {
  readonly gatewayId: string;
  readonly logger: Required<Pick<Logger, 'info'>>;
  /** The time by the store's clock. */
  now(): number;
  /** Canonical form of a key. */
  format(app: string, name: string): string;
  /** Keeps an entry. */
  keep(entry: AuditEntry): void;
  /** Tells the gateway's listeners. */
  tell(entry: AuditEntry): void;
}

/** Tells of every act that is not an ordinary message: to the log, the listeners, the channel, and the trail. */
export class Audit {
  readonly #options: AuditOptions;
  readonly #refused = new RateLimiter({ perSecond: REFUSED_PER_SECOND, burst: REFUSED_BURST });
  readonly #overseen = new Map<string, number>();

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** The name of a session in its scope. */
  nameOf({ app, name }: SessionRef): string {
    return this.#options.format(app, name);
  }

  note(act: Act): void {
    if (act.outcome !== 'ok' && !this.#isFew(act)) return;
    const { gatewayId, logger, now, keep, tell } = this.#options;
    const at = now();
    const entry: AuditEntry = { id: newAuditId(), at, gatewayId, ...act };
    const { id: _, at: __, gatewayId: gateway, by, about, ...facts } = entry;
    const who = by && { user: by.id, ...(by.tenantId !== undefined && { tenant: by.tenantId }) };
    logger.info({ audit: true, ...facts, ...who, ...(about && { about }), gateway }, `audit: ${act.act}`);
    if (channels.audit.hasSubscribers) channels.audit.publish(entry);
    tell(entry);
    keep(entry);
  }

  /** Does an act and notes its outcome. @param actOf The act, asked when it is over */
  noted<Result>(actOf: () => Omit<Act, 'outcome'>, work: () => MaybePromise<Result>): MaybePromise<Result> {
    const failed = (error: unknown): never => {
      this.note({ ...actOf(), outcome: isGatewayError(error) ? error.code : 'INTERNAL' });
      throw error;
    };
    const done = (result: Result): Result => {
      this.note({ ...actOf(), outcome: 'ok' });
      return result;
    };
    let result: MaybePromise<Result>;
    try {
      result = work();
    } catch (error) {
      return failed(error);
    }
    return isPromise(result) ? result.then(done, failed) : done(result);
  }

  /** Notes that somebody reads a session of somebody else by oversight: once an hour for each. */
  oversees(act: Omit<Act, 'act' | 'outcome'>): void {
    const { by, scope, sessionId } = act;
    const key = JSON.stringify([by?.tenantId ?? null, by?.id, scope, sessionId]);
    const now = performance.now();
    if (now - (this.#overseen.get(key) ?? Number.NEGATIVE_INFINITY) < OVERSEEN_MS) return;
    this.#overseen.delete(key);
    this.#overseen.set(key, now);
    const [oldest] = this.#overseen.keys();
    if (this.#overseen.size > OVERSEEN) this.#overseen.delete(oldest!);
    this.note({ act: 'oversee', outcome: 'ok', ...act });
  }

  #isFew({ by, address = '' }: Act): boolean {
    try {
      this.#refused.take(by ? JSON.stringify([by.tenantId ?? null, by.id]) : address);
      return true;
    } catch {
      return false;
    }
  }
}
