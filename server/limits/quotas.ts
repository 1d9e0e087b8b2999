import type { Person } from '../auth/types.js';
import type { Limits } from '../config/limits.js';
import { LimitError } from '../limit-error.js';
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
  | 'readsAtOnce'
  | 'sessionBytes'
  | 'userBytes'
  | 'userFileBytes'
  | 'uploadsPerSecond'
  | 'shared'
  | 'tenant'
>;

/** Sessions that a user may subscribe to at once: those of three connections that reconnect. */
const SUBSCRIBE_BURST = 3000;
/** Part of a session's room that others than its owner may fill. */
const GRANTED = 3 / 4;
/** Links of one owner that may use their whole allowance at once. */
const LINKS = 4;
/** Reads at once of those who bear one link, for each of a user. */
const BEARERS = 4;
/** Remembered scopes of many callers. The oldest is forgotten first, and then has the limits of a single user. */
const SCOPES = 10_000;

type TenantRate = 'sendsPerSecond' | 'invokesPerSecond' | 'readsPerSecond';

type RateNames = readonly [
  own: TenantRate | 'uploadsPerSecond' | 'subscribesPerSecond',
  ofShared: TenantRate | 'uploadsPerSecond',
  ofTenant?: TenantRate,
];

/** The buckets of one rate: of users, of identities that many callers share, and of tenants. */
const BUCKETS = ['people', 'shared', 'tenants'] as const;
type RateBucket = (typeof BUCKETS)[number];

type OnTake = (bucket: RateBucket, key: string, units: number) => void;

/** Throws if the gateway takes no new work of a person. */
type Admit = (person: Person) => void;

const ADMIT_ALL: Admit = () => {};

interface RatesOptions {
  readonly burst?: number;
  readonly onTake?: OnTake | undefined;
  readonly admit?: Admit;
  tenantOf(person: Person): string;
}

/** Rates of one kind. */
class Rates {
  readonly #buckets: Readonly<Record<RateBucket, RateLimiter>>;
  readonly #admit: Admit;
  readonly #limits: UserLimits;
  readonly #names: RateNames;
  readonly #tenantOf: (person: Person) => string;

  /** @param names Names of the limits: of a user, of an identity that many callers share, and of a tenant. */
  constructor(
    limits: UserLimits,
    names: RateNames,
    { burst, onTake, admit = ADMIT_ALL, tenantOf }: RatesOptions,
  ) {
    const [own, ofShared, ofTenant] = names;
    this.#admit = admit;
    this.#limits = limits;
    this.#names = names;
    this.#tenantOf = tenantOf;
    const of = (bucket: RateBucket) => onTake && ((key: string, units: number) => onTake(bucket, key, units));
    const [people, shared, tenants] = this.#rates();
    this.#buckets = {
      people: new RateLimiter({
        perSecond: people,
        burst,
        option: `limits.${own}`,
        onTake: of('people'),
      }),
      shared: new RateLimiter({
        perSecond: shared,
        option: `limits.shared.${ofShared}`,
        onTake: of('shared'),
      }),
      tenants: new RateLimiter({
        perSecond: tenants,
        option: `limits.tenant.${ofTenant}`,
        onTake: of('tenants'),
      }),
    };
  }

  /** The present rates, in the order of the buckets. */
  #rates(): readonly [people: number, shared: number, tenants: number] {
    const [own, ofShared, ofTenant] = this.#names;
    const { shared, tenant } = this.#limits;
    return [this.#limits[own], shared[ofShared], ofTenant ? tenant[ofTenant] : Number.POSITIVE_INFINITY];
  }

  /** Whether a tenant has a limit. Most have none, and need no name. */
  get #ofTenants(): boolean {
    const [, , ofTenant] = this.#names;
    return ofTenant !== undefined && Number.isFinite(this.#limits.tenant[ofTenant]);
  }

  /** Takes the present limits in. */
  renew(): void {
    for (const [i, perSecond] of this.#rates().entries()) this.#buckets[BUCKETS[i]!].limitTo(perSecond);
  }

  /** Counts uses at another gateway. */
  spend(bucket: RateBucket, key: string, count: number): void {
    this.#buckets[bucket].spend(key, count);
  }

  /** @throws GatewayError `RATE_LIMITED`; `OVERLOADED` while no new work is taken */
  take(person: Person, units = 1): void {
    this.#admit(person);
    const { kind, key, within } = person.pays;
    const { people, shared, tenants } = this.#buckets;
    // All links of one owner have a share together. They are checked first, lest the link pays for nothing.
    if (within !== undefined) people.take(within, units / LINKS);
    (kind === 'many' ? shared : people).take(key, units);
    if (!this.#ofTenants) return;
    // The tenant comes last: a user beyond its own rate is not to use up that of all.
    try {
      tenants.take(this.#tenantOf(person), units);
    } catch (error) {
      this.#giveBackOwn(person, units);
      throw error;
    }
  }

  /** Gives an unused take back. Other gateways that were told of it still count it. */
  giveBack(person: Person): void {
    this.#giveBackOwn(person, 1);
    if (this.#ofTenants) this.spend('tenants', this.#tenantOf(person), -1);
  }

  #giveBackOwn({ pays: { kind, key, within } }: Person, units: number): void {
    if (within !== undefined) this.spend('people', within, -units / LINKS);
    this.spend(kind === 'many' ? 'shared' : 'people', key, -units);
  }
}

/** A place among the connections of one payer or tenant. */
export interface ConnectionPlace {
  readonly key: string;
  readonly most: number;
  /** The option that sets `most`, and whom it bounds. */
  readonly option: string;
  readonly whose: string;
}

interface QuotasOptions {
  /** The tenant that a caller belongs to. */
  tenantOf(person: Person): string;
  /** Called for each use of a rate, which it can `spend` at another gateway. */
  readonly used?: ((rate: number, key: string, units: number) => void) | undefined;
  /** Called before new work is counted. */
  readonly admit?: Admit;
  /** Called before reads and subscriptions are counted. Callers need them to follow accepted work, so that they are refused later. */
  readonly admitReader?: Admit;
}

/** The limits of one caller: those of a user, or `limits.shared` for an identity that many callers share. */
export class Quotas {
  readonly sends: Rates;
  readonly invokes: Rates;
  readonly reads: Rates;
  readonly uploads: Rates;
  /** Rates of subscriptions. Each new session name costs memory. */
  readonly subscribes: Rates;
  readonly #limits: UserLimits;
  readonly #rates: readonly Rates[];
  readonly #sharedScopes = new Set<string>();

  readonly #tenantOf: (person: Person) => string;

  constructor(limits: UserLimits, { tenantOf, used, admit, admitReader }: QuotasOptions) {
    this.#limits = limits;
    this.#tenantOf = tenantOf;
    const made: Rates[] = [];
    const rates = (
      names: RateNames,
      options: { burst?: number; admit?: Admit | undefined } = { admit },
    ): Rates => {
      const at = BUCKETS.length * made.length;
      const onTake: OnTake | undefined =
        used && ((bucket, key, units) => used(at + BUCKETS.indexOf(bucket), key, units));
      const { burst, admit: admits = ADMIT_ALL } = options;
      const own = new Rates(limits, names, {
        ...{ onTake, tenantOf, admit: admits },
        ...(burst !== undefined && { burst }),
      });
      made.push(own);
      return own;
    };
    this.sends = rates(['sendsPerSecond', 'sendsPerSecond', 'sendsPerSecond']);
    this.invokes = rates(['invokesPerSecond', 'invokesPerSecond', 'invokesPerSecond']);
    this.reads = rates(['readsPerSecond', 'readsPerSecond', 'readsPerSecond'], { admit: admitReader });
    this.uploads = rates(['uploadsPerSecond', 'uploadsPerSecond']);
    this.subscribes = rates(['subscribesPerSecond', 'readsPerSecond'], {
      burst: SUBSCRIBE_BURST,
      admit: admitReader,
    });
    this.#rates = made;
  }

  /** Takes limits in that have changed. */
  renew(): void {
    for (const rates of this.#rates) rates.renew();
  }

  /** Counts uses of a rate at another gateway. */
  spend(rate: number, key: string, count: number): void {
    const bucket = BUCKETS[rate % BUCKETS.length];
    if (bucket) this.#rates[Math.floor(rate / BUCKETS.length)]?.spend(bucket, key, count);
  }

  /** The places that one more connection of a caller takes. */
  connections(person: Person): readonly ConnectionPlace[] {
    const { kind, key } = person.pays;
    const { shared, connectionsPerUser, tenant } = this.#limits;
    // A link may have many bearers, and a follower costs little.
    const own: ConnectionPlace =
      kind === 'person'
        ? { key, most: connectionsPerUser, option: 'limits.connectionsPerUser', whose: 'user' }
        : { key, most: shared.connections, option: 'limits.shared.connections', whose: 'user' };
    if (!Number.isFinite(tenant.connections)) return [own];
    const ofTenant = this.#tenantOf(person);
    return [
      own,
      { key: ofTenant, most: tenant.connections, option: 'limits.tenant.connections', whose: 'tenant' },
    ];
  }

  /** Streams of methods and runs that a caller may hold open. */
  streams({ pays: { kind } }: Person): number {
    return kind === 'many' ? this.#limits.shared.connections : this.#limits.streamsPerUser;
  }

  /** Reads that a caller may have under way at once; more wait for their turn. */
  readsAtOnce({ pays: { kind } }: Person): number {
    const { readsAtOnce, shared } = this.#limits;
    return kind === 'many' ? shared.connections : kind === 'link' ? readsAtOnce * BEARERS : readsAtOnce;
  }

  /** Remembers that a scope belongs to many callers. Call it before the limits of the scope are read. */
  meet({ pays: { kind }, scope, key }: Person): void {
    if ((kind !== 'many' && scope === key) || this.#sharedScopes.has(scope)) return;
    this.#sharedScopes.add(scope);
    if (this.#sharedScopes.size <= SCOPES) return;
    const [oldest] = this.#sharedScopes;
    if (oldest !== undefined) this.#sharedScopes.delete(oldest);
  }

  /** Open sessions that a scope may have. */
  sessions(scope: string): number {
    return this.#sharedScopes.has(scope) ? this.#limits.shared.sessions : this.#limits.sessionsPerUser;
  }

  /** Bytes that the files of a scope may take up. */
  fileBytes(scope: string): number {
    return this.#sharedScopes.has(scope) ? this.#limits.shared.fileBytes : this.#limits.userFileBytes;
  }

  /**
   * @param isGranted Whether the caller came by a grant. The last quarter of all room is the owner's.
   * @throws GatewayError `QUOTA_EXCEEDED` when a session, or its whole scope, has used up its bytes
   */
  checkRoom(
    scope: string,
    size: { readonly session: number; readonly scope: number },
    isGranted: boolean,
  ): void {
    const limits = this.#limits;
    const share = isGranted ? GRANTED : 1;
    const sessionBytes = limits.sessionBytes * share;
    const inAll = (this.#sharedScopes.has(scope) ? limits.shared.bytes : limits.userBytes) * share;
    if (size.session >= sessionBytes) {
      throw new LimitError('limits.sessionBytes', {
        code: 'QUOTA_EXCEEDED',
        message: `The session has used all of its ${sessionBytes} bytes; go on in another one`,
        details: { limit: 'sessionBytes', bytes: sessionBytes, used: size.session },
      });
    }
    if (size.scope >= inAll) {
      throw new LimitError(this.#sharedScopes.has(scope) ? 'limits.shared.bytes' : 'limits.userBytes', {
        code: 'QUOTA_EXCEEDED',
        message: `Your sessions have used all of their ${inAll} bytes; closed ones make room once they are dropped`,
        details: { limit: 'userBytes', bytes: inAll, used: size.scope },
      });
    }
  }
}
