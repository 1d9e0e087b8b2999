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

type RateNames = readonly [
  own: 'sendsPerSecond' | 'invokesPerSecond' | 'readsPerSecond' | 'uploadsPerSecond' | 'subscribesPerSecond',
  ofShared: 'sendsPerSecond' | 'invokesPerSecond' | 'readsPerSecond' | 'uploadsPerSecond',
];

type OnTake = (isShared: boolean, key: string, units: number) => void;

/** Throws if the gateway takes no new work. */
type Admit = () => void;

const ADMIT_ALL: Admit = () => {};

/** Rates of one kind: a bucket for each user, and a bigger one for an identity that many callers share. */
class Rates {
  readonly #people: RateLimiter;
  readonly #shared: RateLimiter;
  readonly #admit: Admit;
  readonly #limits: UserLimits;
  readonly #names: RateNames;

  /** @param names Names of both limits: of a user, and of an identity that many callers share. */
  constructor(
    limits: UserLimits,
    names: RateNames,
    {
      burst,
      onTake,
      admit = ADMIT_ALL,
    }: { readonly burst?: number; readonly onTake?: OnTake | undefined; readonly admit?: Admit } = {},
  ) {
    const [own, ofShared] = names;
    this.#admit = admit;
    this.#limits = limits;
    this.#names = names;
    const of = (isShared: boolean) =>
      onTake && ((key: string, units: number) => onTake(isShared, key, units));
    this.#people = new RateLimiter({
      perSecond: limits[own],
      burst,
      option: `limits.${own}`,
      onTake: of(false),
    });
    this.#shared = new RateLimiter({
      perSecond: limits.shared[ofShared],
      option: `limits.shared.${ofShared}`,
      onTake: of(true),
    });
  }

  /** Takes the present limits in. */
  renew(): void {
    const [own, ofShared] = this.#names;
    this.#people.limitTo(this.#limits[own]);
    this.#shared.limitTo(this.#limits.shared[ofShared]);
  }

  /** Counts uses at another gateway. */
  spend(isShared: boolean, key: string, count: number): void {
    (isShared ? this.#shared : this.#people).spend(key, count);
  }

  /** @throws GatewayError `RATE_LIMITED`; `OVERLOADED` while no new work is taken */
  take({ pays: { kind, key, within } }: Person, units = 1): void {
    this.#admit();
    // All links of one owner have a share together. They are checked first, lest the link pays for nothing.
    if (within !== undefined) this.#people.take(within, units / LINKS);
    (kind === 'many' ? this.#shared : this.#people).take(key, units);
  }

  /** Gives an unused take back. Other gateways that were told of it still count it. */
  giveBack({ pays: { kind, key, within } }: Person): void {
    if (within !== undefined) this.spend(false, within, -1 / LINKS);
    this.spend(kind === 'many', key, -1);
  }
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

  /**
   * @param used Called for each use of a rate, which it can `spend` at another gateway.
   * @param admit Called before new work is counted.
   * @param admitReader Called before reads and subscriptions are counted. Callers need them to follow accepted work, so that they are refused later.
   */
  constructor(
    limits: UserLimits,
    used?: (rate: number, key: string, units: number) => void,
    admit: Admit = ADMIT_ALL,
    admitReader: Admit = ADMIT_ALL,
  ) {
    this.#limits = limits;
    const made: Rates[] = [];
    const rates = (names: RateNames, options: { burst?: number; admit?: Admit } = { admit }): Rates => {
      const at = 2 * made.length;
      const onTake: OnTake | undefined =
        used && ((isShared, key, units) => used(isShared ? at + 1 : at, key, units));
      const own = new Rates(limits, names, { onTake, ...options });
      made.push(own);
      return own;
    };
    this.sends = rates(['sendsPerSecond', 'sendsPerSecond']);
    this.invokes = rates(['invokesPerSecond', 'invokesPerSecond']);
    this.reads = rates(['readsPerSecond', 'readsPerSecond'], { admit: admitReader });
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
    this.#rates[rate >> 1]?.spend(rate % 2 === 1, key, count);
  }

  /** Open connections that a caller may have. */
  connections({ pays: { kind } }: Person): number {
    // A link may have many bearers, and a follower costs little.
    return kind !== 'person' ? this.#limits.shared.connections : this.#limits.connectionsPerUser;
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
