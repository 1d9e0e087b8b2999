import { GatewayError } from '../../shared/errors.js';
import type { Identity } from '../auth/types.js';
import type { Limits } from '../config/limits.js';
import { RateLimiter } from './token-bucket.js';

type UserLimits = Pick<
  Limits,
  | 'connectionsPerUser'
  | 'streamsPerUser'
  | 'subscribesPerSecond'
  | 'sessionsPerUser'
  | 'sendsPerSecond'
  | 'invokesPerSecond'
  | 'readsPerSecond'
  | 'sessionBytes'
  | 'userBytes'
  | 'userFileBytes'
  | 'uploadsPerSecond'
  | 'shared'
>;

/** Sessions a user may subscribe to at once: those of three connections that are opened again. */
const SUBSCRIBE_BURST = 3000;
/** Scopes remembered as those of many callers; the oldest are forgotten first, and then bounded like a person's. */
const SCOPES = 10_000;

/** Rates of one kind: a bucket for each person, and a bigger one for an identity that many share. */
class Rates {
  readonly #people: RateLimiter;
  readonly #shared: RateLimiter;

  constructor(perPerson: number, perShared: number, burst?: number) {
    this.#people = new RateLimiter({ perSecond: perPerson, burst });
    this.#shared = new RateLimiter({ perSecond: perShared });
  }

  /** @throws GatewayError `RATE_LIMITED` */
  take({ shared, userKey }: Identity): void {
    (shared ? this.#shared : this.#people).take(userKey);
  }
}

/** What one caller may use. A person is bounded by the limits of a user, an identity that many callers share by `limits.shared`. */
export class Quotas {
  readonly sends: Rates;
  readonly invokes: Rates;
  readonly reads: Rates;
  readonly uploads: Rates;
  /** Sessions that callers follow: each new name costs memory. */
  readonly subscribes: Rates;
  readonly #limits: UserLimits;
  readonly #sharedScopes = new Set<string>();

  constructor(limits: UserLimits) {
    const { shared } = limits;
    this.#limits = limits;
    this.sends = new Rates(limits.sendsPerSecond, shared.sendsPerSecond);
    this.invokes = new Rates(limits.invokesPerSecond, shared.invokesPerSecond);
    this.reads = new Rates(limits.readsPerSecond, shared.readsPerSecond);
    this.uploads = new Rates(limits.uploadsPerSecond, shared.uploadsPerSecond);
    this.subscribes = new Rates(limits.subscribesPerSecond, shared.readsPerSecond, SUBSCRIBE_BURST);
  }

  /** Open connections a caller may have. */
  connections({ shared }: Identity): number {
    return shared ? this.#limits.shared.connections : this.#limits.connectionsPerUser;
  }

  /** Streams of methods and runs that a caller may hold open. */
  streams({ shared }: Identity): number {
    return shared ? this.#limits.shared.connections : this.#limits.streamsPerUser;
  }

  /** Remembers that a scope is not one person's. To be told before it is asked about. */
  meet({ shared, scope, userKey }: Identity): void {
    if ((!shared && scope === userKey) || this.#sharedScopes.has(scope)) return;
    this.#sharedScopes.add(scope);
    if (this.#sharedScopes.size <= SCOPES) return;
    const [oldest] = this.#sharedScopes;
    if (oldest !== undefined) this.#sharedScopes.delete(oldest);
  }

  /** Open sessions a scope may have. */
  sessions(scope: string): number {
    return this.#sharedScopes.has(scope) ? this.#limits.shared.sessions : this.#limits.sessionsPerUser;
  }

  /** Bytes that the files of a scope may take up. */
  fileBytes(scope: string): number {
    return this.#sharedScopes.has(scope) ? this.#limits.shared.fileBytes : this.#limits.userFileBytes;
  }

  /** @throws GatewayError `QUOTA_EXCEEDED` when a session, or all of its scope, take up what they may. */
  checkRoom(scope: string, size: { readonly session: number; readonly scope: number }): void {
    const { sessionBytes, userBytes, shared } = this.#limits;
    const inAll = this.#sharedScopes.has(scope) ? shared.bytes : userBytes;
    if (size.session >= sessionBytes) {
      throw new GatewayError({
        code: 'QUOTA_EXCEEDED',
        message: `The session takes up the ${sessionBytes} bytes that it may; go on in another one`,
        details: { limit: 'sessionBytes', bytes: sessionBytes, used: size.session },
      });
    }
    if (size.scope >= inAll) {
      throw new GatewayError({
        code: 'QUOTA_EXCEEDED',
        message: `Your sessions take up the ${inAll} bytes that they may; closed ones make room once they are dropped`,
        details: { limit: 'userBytes', bytes: inAll, used: size.scope },
      });
    }
  }
}
