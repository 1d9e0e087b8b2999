import type { BaseUser, UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { AttemptLimiter, type AttemptLimits } from './attempts.js';
import { MAX_TOKEN_LENGTH, ShownCredentials } from './credentials.js';
import { createCustomVerifier } from './custom.js';
import { HostCode } from './host-call.js';
import { createIdentify, type Identify, userProblem } from './identity.js';
import { createJwtVerifier } from './jwt.js';
import { KeptIdentities } from './kept-identities.js';
import { unauthenticated } from './refusal.js';
import type { SessionScope } from './scope.js';
import { createTokenVerifier } from './static-token.js';
import type {
  AuthConfig,
  AuthRequest,
  Credentials,
  Person,
  UserLike,
  Verification,
  Verifier,
} from './types.js';

/** A caller who was not let in. */
export interface AuthRefusal {
  /** The error's code: `UNAUTHENTICATED`, `RATE_LIMITED`, `AUTH_UNAVAILABLE` or the host's own. */
  readonly code: string;
  /** The reason, without any part of the credentials. */
  readonly reason: string;
  /** The client's address; empty if unknown. */
  readonly address: string;
  /** Id of the request, if there was one. */
  readonly requestId?: string;
}

export interface AuthenticatorOptions {
  readonly auth: AuthConfig;
  /** @default 'user' */
  readonly sessionScope?: SessionScope | undefined;
  readonly attempts?: AttemptLimits | undefined;
  /** Milliseconds that `validate`, `hydrateUser` and token functions may take. @default 10_000 */
  readonly hostTimeoutMs?: number | undefined;
  /** Whether tokens that a function returns must be long, because other machines can reach the gateway. @default false */
  readonly exposed?: boolean | undefined;
  /** Receives failures of host code, with credentials cut out. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Receives each refusal of a caller that presented credentials. */
  readonly onRefused?: ((refusal: AuthRefusal) => void) | undefined;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** An identity on its way to another gateway. */
export interface CarriedIdentity {
  readonly person: Person;
  readonly shown?: Credentials;
}

/** The single entrance for callers of every transport. */
export interface Authenticator {
  /**
   * Identifies a caller; synchronous with a static token and without any. Throws, or rejects:
   *
   * @throws GatewayError `UNAUTHENTICATED` (its `cause` has the reason for the log), `RATE_LIMITED` with `retryAfterMs` if the address
   * failed too often, `AUTH_UNAVAILABLE` if the caller could not be checked, or the host's own `GatewayError`.
   */
  authenticate(credentials: Credentials): MaybePromise<Person>;
  /**
   * Checks an accepted caller again, with its former credentials. The result replaces the identity, since roles may have changed. An
   * identity that cannot be checked (a fixed token, a user named by the host) stays the same.
   *
   * @throws GatewayError as `authenticate`; also `UNAUTHENTICATED` if the same credentials now belong to somebody else
   */
  revalidate(person: Person): MaybePromise<Person>;
  /** An identity as a value for another gateway of the same configuration. It contains the credentials, so keep it secret. */
  carry(person: Person): CarriedIdentity;
  /** Restores a carried identity. It can be checked again as at its origin. */
  receive(carried: CarriedIdentity): Person;
  /**
   * The identity of a user whom the host authenticated itself.
   *
   * @throws GatewayError `UNAUTHENTICATED` for a user without an id or scope.
   */
  readonly identify: Identify;
  /**
   * The identity of the user whom the host names for a request. The caller learns nothing of the host's mistakes, so the log tells them.
   *
   * @throws GatewayError as `identify`
   */
  identifyNamed(user: UserLike, request: AuthRequest): Person;
}

/** An authenticator whose configuration can be replaced. */
export interface ReplaceableAuthenticator extends Authenticator {
  /**
   * Authenticates by another configuration of the same type from now on. Callers of before are checked by it when they are checked again.
   *
   * @throws GatewayError `INVALID_REQUEST` when the configuration does not fit; then nothing has changed
   */
  replace(auth: AuthConfig): void;
}

/**
 * Builds the authenticator of a gateway from a valid configuration.
 *
 * @throws GatewayError `INVALID_REQUEST` when a JWT key does not suit its algorithms.
 */
export function createAuthenticator(options: AuthenticatorOptions): ReplaceableAuthenticator {
  return new ConfiguredAuthenticator(options);
}

/** The credentials of a caller, and the configuration by which they were accepted. */
interface AcceptedCredentials {
  readonly credentials: Credentials;
  readonly by: AuthConfig;
}

const UNJUDGED_PER_WINDOW = 100;

class ConfiguredAuthenticator implements ReplaceableAuthenticator {
  readonly identify: Identify;
  readonly #sessionScope: SessionScope | undefined;
  readonly #exposed: boolean;
  #auth: AuthConfig;
  #verifier: Verifier;
  readonly #attempts: AttemptLimiter;
  /** Attempts that could not be judged. Host code may throw for a bad token, so they are limited too; an outage causes many of them. */
  readonly #unjudged: AttemptLimiter;
  readonly #host: HostCode;
  readonly #onRefused: (refusal: AuthRefusal) => void;
  /** Whether a caller may be withdrawn before the credentials expire. */
  #revocable: boolean;
  /** Whether a wrong token can be a guess. Signatures cannot be guessed, so bad JWTs never block an address. */
  readonly #guessable: boolean;
  /** Credentials of callers. They are kept apart from the identities, so that they get into no log. */
  readonly #shown = new WeakMap<Person, AcceptedCredentials>();
  /** Identities of tokens that need not be verified again; null if each token must be. */
  #kept: KeptIdentities | null;
  readonly #now: () => number;

  constructor(options: AuthenticatorOptions) {
    const { auth } = options;
    const now = options.now ?? (() => Date.now());
    this.identify = createIdentify(options.sessionScope, (user) => isEverybody(this.#auth, user));
    this.#sessionScope = options.sessionScope;
    this.#exposed = options.exposed ?? false;
    this.#auth = auth;
    this.#host = new HostCode(options.hostTimeoutMs ?? 10_000, options.onError ?? (() => {}));
    this.#attempts = new AttemptLimiter(options.attempts);
    this.#unjudged = new AttemptLimiter({ limit: UNJUDGED_PER_WINDOW, ...options.attempts });
    this.#onRefused = options.onRefused ?? (() => {});
    this.#verifier = createVerifier(auth, this.#host, { now, exposed: this.#exposed });
    this.#revocable = isRevocable(auth);
    this.#kept = isLasting(auth, options.sessionScope) ? new KeptIdentities() : null;
    this.#now = now;
    this.#guessable = auth.type === 'token' || auth.type === 'custom';
  }

  replace(auth: AuthConfig): void {
    this.#verifier = createVerifier(auth, this.#host, { now: this.#now, exposed: this.#exposed });
    this.#auth = auth;
    this.#revocable = isRevocable(auth);
    this.#kept = isLasting(auth, this.#sessionScope) ? new KeptIdentities() : null;
  }

  authenticate(credentials: Credentials): MaybePromise<Person> {
    const failed = (error: unknown): never => {
      this.#tell(error, credentials);
      throw error;
    };
    try {
      const person = this.#authenticate(credentials);
      return isPromise(person) ? person.catch(failed) : person;
    } catch (error) {
      return failed(error);
    }
  }

  #authenticate(credentials: Credentials): MaybePromise<Person> {
    const given = this.#auth.type === 'none' ? undefined : credentials.token;
    const token = given === '' ? undefined : given;
    if (token === undefined && !this.#verifier.takesAnyone) {
      throw unauthenticated('no token', 'Authentication is required');
    }
    const shown =
      token === credentials.token ? credentials : new ShownCredentials(token, credentials.request);
    this.#admit(shown);
    // The same token's earlier identity. The empty name stands for callers without a token, if none is required.
    const known = this.#kept?.find(token ?? '', this.#now());
    if (known !== undefined) return known;
    return andThen(this.#verify(shown), (verification) => {
      this.#count(verification, shown);
      return this.#identityOf(verification, shown);
    });
  }

  identifyNamed(user: UserLike, request: AuthRequest): Person {
    const problem = userProblem(user);
    if (problem !== undefined) this.#host.report(`the host's user: ${problem}`);
    try {
      return this.identify(user);
    } catch (error) {
      this.#refused(error, request);
      throw error;
    }
  }

  revalidate(person: Person): MaybePromise<Person> {
    const shown = this.#shown.get(person);
    if (shown === undefined || !(this.#revocable || shown.by !== this.#auth)) return person;
    const { credentials } = shown;
    return andThen(this.#verify(credentials), (verification) =>
      andThen(this.#identityOf(verification, credentials), (present) => {
        if (present.key === person.key && present.scope === person.scope) return present;
        throw unauthenticated('the credentials are of another user now');
      }),
    );
  }

  carry(person: Person): CarriedIdentity {
    const shown = this.#revocable && this.#shown.get(person)?.credentials;
    return { person, ...(shown && { shown }) };
  }

  receive({ person, shown }: CarriedIdentity): Person {
    if (shown) this.#shown.set(person, { credentials: shown, by: this.#auth });
    return person;
  }

  #admit({ token, request }: Credentials): void {
    if (token === undefined || !this.#guessable) return;
    this.#attempts.admit(request.ip, token);
    this.#unjudged.admit(request.ip, token);
  }

  #count(verification: Verification, shown: Credentials): void {
    const { token, request } = shown;
    if (token === undefined || !this.#guessable) return;
    // Attempts made at the same time may have failed meanwhile. The rest of them, right or wrong, get the same error, or a burst of guesses
    // would learn more than its allowance.
    this.#admit(shown);
    if (!verification.ok && verification.guess) this.#attempts.fail(request.ip, token);
    if (!verification.ok && verification.unjudged) this.#unjudged.fail(request.ip, token);
    if (verification.ok && this.#verifier.strongTokens) this.#attempts.remember(token);
  }

  #verify({ token, request }: Credentials): MaybePromise<Verification> {
    if (token !== undefined && token.length > MAX_TOKEN_LENGTH) {
      return { ok: false, reason: 'the token is too long', guess: true };
    }
    return this.#verifier.verify(token, request);
  }

  #identityOf(verification: Verification, shown: Credentials): MaybePromise<Person> {
    if (!verification.ok) throw verification.error ?? unauthenticated(verification.reason);
    const { expiresAt } = verification;
    const by = this.#auth;
    return andThen(this.#hydrate(verification.user, expiresAt, shown), (user) => {
      const person = this.identify(user, expiresAt);
      this.#shown.set(person, { credentials: withoutRaw(shown), by });
      if (by === this.#auth) this.#kept?.keep(shown.token ?? '', this.#unchangeable(person), this.#now());
      return person;
    });
  }

  /** The next request with the same token shares this user, so no handler may change it. Users that the host configured stay as they are. */
  #unchangeable(person: Person): Person {
    return this.#auth.type === 'jwt' ? deepFreeze(person) : person;
  }

  #hydrate(user: UserLike, expiresAt: number | undefined, credentials: Credentials): MaybePromise<UserLike> {
    const { hydrateUser } = this.#auth;
    if (hydrateUser === undefined) return user;
    const { token, request } = credentials;
    const run = () => hydrateUser({ valid: true, user: user as BaseUser, expiresAt }, request);
    return andThen(this.#host.call<UserLike>({ name: 'auth.hydrateUser', token, run }), (outcome) => {
      if (!outcome.ok) {
        throw outcome.bad ? unauthenticated('hydrateUser refused the token') : outcome.error;
      }
      const problem = userProblem(outcome.value);
      if (problem !== undefined) this.#host.report(`auth.hydrateUser: ${problem}`);
      return outcome.value;
    });
  }

  #tell(error: unknown, { token, request }: Credentials): void {
    // A caller without credentials is asked to authenticate, which is no event.
    if (token || request.headers.cookie !== undefined) this.#refused(error, request);
  }

  #refused(error: unknown, { ip: address, requestId }: AuthRequest): void {
    if (!isGatewayError(error)) return;
    const { code, cause, message } = error;
    const reason = typeof cause === 'string' ? cause : message;
    this.#onRefused({ code, reason, address, ...(requestId !== undefined && { requestId }) });
  }
}

/** Whether a user stands for all callers without an identity of their own. */
function isEverybody(auth: AuthConfig, { id }: UserContext): boolean {
  if (auth.type === 'none') return id === 'anonymous';
  return auth.type === 'token' && auth.user === undefined && id === 'token';
}

/** Keys of an issuer, and tokens and secrets of a function, can be withdrawn; fixed ones cannot. */
function isRevocable(auth: AuthConfig): boolean {
  if (auth.hydrateUser !== undefined || auth.type === 'custom') return true;
  if (auth.type === 'token') return typeof auth.token === 'function';
  if (auth.type === 'none') return false;
  return auth.jwksUri !== undefined || typeof auth.secret === 'function';
}

/** Whether a good token stays good until it expires, with the same bearer. A function of the host may change its result. */
function isLasting(auth: AuthConfig, sessionScope: SessionScope | undefined): boolean {
  return !isRevocable(auth) && (auth.type === 'token' || typeof sessionScope !== 'function');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner);
  return value;
}

// A connection may be open for days and must not hold its whole request.
function withoutRaw({ token, request: { headers, ip } }: Credentials): Credentials {
  return { token, request: { headers, ip } };
}

function createVerifier(
  auth: AuthConfig,
  host: HostCode,
  { now, exposed }: { readonly now: () => number; readonly exposed: boolean },
): Verifier {
  if (auth.type === 'token') return createTokenVerifier(auth, host, exposed);
  if (auth.type === 'jwt') {
    return createJwtVerifier(auth, { now, host, exposed });
  }
  if (auth.type === 'custom') return createCustomVerifier(auth, host, now);
  const anonymous: Verification = { ok: true, user: { id: 'anonymous' } };
  return { takesAnyone: true, strongTokens: false, verify: () => anonymous };
}
