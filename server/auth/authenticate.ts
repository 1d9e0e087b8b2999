import type { BaseUser, UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { AttemptLimiter, type AttemptLimits } from './attempts.js';
import { MAX_TOKEN_LENGTH, Shown } from './credentials.js';
import { createCustomVerifier } from './custom.js';
import { HostCode } from './host-call.js';
import { createIdentify, type Identify, userProblem } from './identity.js';
import { createJwtVerifier } from './jwt.js';
import { KeptIdentities } from './kept-identities.js';
import { unauthenticated } from './refusal.js';
import type { SessionScope } from './scope.js';
import { createTokenVerifier } from './static-token.js';
import type { AuthConfig, Credentials, Identity, UserLike, Verification, Verifier } from './types.js';

/** A caller who was not let in. */
export interface AuthRefusal {
  /** The error's code: `UNAUTHENTICATED`, `RATE_LIMITED`, `AUTH_UNAVAILABLE` or the host's own. */
  readonly code: string;
  /** Why, in words that hold no part of the credentials. */
  readonly reason: string;
  /** The client's address; empty where it is not known. */
  readonly address: string;
  /** Of the request, where it was one. */
  readonly requestId?: string;
}

export interface AuthenticatorOptions {
  readonly auth: AuthConfig;
  /** @default 'user' */
  readonly sessionScope?: SessionScope | undefined;
  readonly attempts?: AttemptLimits | undefined;
  /** How long `validate`, `hydrateUser` and token functions may take. @default 10_000 */
  readonly hostTimeoutMs?: number | undefined;
  /** Whether tokens that a function returns have to be long: others than this machine can reach the gateway. @default false */
  readonly exposed?: boolean | undefined;
  /** Told about failures of host code; credentials are cut out. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Told about each caller who showed something and was refused. */
  readonly onRefused?: ((refusal: AuthRefusal) => void) | undefined;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** An identity on its way to another gateway. */
export interface CarriedIdentity {
  readonly identity: Identity;
  readonly shown?: Credentials;
}

/** The one way in, whatever the transport. */
export interface Authenticator {
  /**
   * Finds out who a caller is; synchronous with a static token and without any. Throws, or rejects:
   *
   * @throws GatewayError `UNAUTHENTICATED` (its `cause` says why, for the log), `RATE_LIMITED` with `retryAfterMs` when
   * the address failed too often, `AUTH_UNAVAILABLE` when nobody could find out, or the host's own `GatewayError`.
   */
  authenticate(credentials: Credentials): MaybePromise<Identity>;
  /**
   * Asks again about a caller who was let in, with what it showed then. The answer replaces the identity: roles may have changed.
   * One that cannot be asked about (a fixed token, a user whom the host named) is as it was.
   *
   * @throws GatewayError as `authenticate`; `UNAUTHENTICATED` also where the same credentials are somebody else's now
   */
  revalidate(identity: Identity): MaybePromise<Identity>;
  /** An identity as a value that another gateway of the same configuration takes in. It holds what the caller showed: keep it secret. */
  carry(identity: Identity): CarriedIdentity;
  /** An identity that was carried, which can be asked about again as it could where it comes from. */
  receive(carried: CarriedIdentity): Identity;
  /**
   * The identity of a user whom the host authenticated itself.
   *
   * @throws GatewayError `UNAUTHENTICATED` for a user without an id or scope.
   */
  readonly identify: Identify;
}

/**
 * Builds the authenticator of a gateway from a valid configuration.
 *
 * @throws GatewayError `INVALID_REQUEST` when a JWT key does not suit its algorithms.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  return new ConfiguredAuthenticator(options);
}

const UNJUDGED_PER_WINDOW = 100;

class ConfiguredAuthenticator implements Authenticator {
  readonly identify: Identify;
  readonly #auth: AuthConfig;
  readonly #verifier: Verifier;
  readonly #attempts: AttemptLimiter;
  /** Tries that nobody could judge. Host code may throw for a bad token, so they are no free guesses either, but an outage has many. */
  readonly #unjudged: AttemptLimiter;
  readonly #host: HostCode;
  readonly #onRefused: (refusal: AuthRefusal) => void;
  /** Whether a good answer may turn bad before the credentials expire. */
  readonly #revocable: boolean;
  /** Whether a wrong token can be a guess. A signature can't be guessed: bad JWTs never shut an address out. */
  readonly #guessable: boolean;
  /** What callers showed who may be asked about again. Beside the identities, so that it gets into no log with them. */
  readonly #shown = new WeakMap<Identity, Credentials>();
  /** Whose the tokens are that need not be verified again; null where each has to be. */
  readonly #kept: KeptIdentities | null;
  readonly #now: () => number;

  constructor(options: AuthenticatorOptions) {
    const { auth } = options;
    const now = options.now ?? (() => Date.now());
    this.identify = createIdentify(options.sessionScope, (user) => isEverybody(auth, user));
    this.#auth = auth;
    this.#host = new HostCode(options.hostTimeoutMs ?? 10_000, options.onError ?? (() => {}));
    this.#attempts = new AttemptLimiter(options.attempts);
    this.#unjudged = new AttemptLimiter({ limit: UNJUDGED_PER_WINDOW, ...options.attempts });
    this.#onRefused = options.onRefused ?? (() => {});
    this.#verifier = createVerifier(auth, this.#host, { now, exposed: options.exposed ?? false });
    this.#revocable = isRevocable(auth);
    this.#kept = isLasting(auth, options.sessionScope) ? new KeptIdentities() : null;
    this.#now = now;
    this.#guessable = auth.type === 'token' || auth.type === 'custom';
  }

  authenticate(credentials: Credentials): MaybePromise<Identity> {
    const failed = (error: unknown): never => {
      this.#tell(error, credentials);
      throw error;
    };
    try {
      const identity = this.#authenticate(credentials);
      return isPromise(identity) ? identity.catch(failed) : identity;
    } catch (error) {
      return failed(error);
    }
  }

  #authenticate(credentials: Credentials): MaybePromise<Identity> {
    const given = this.#auth.type === 'none' ? undefined : credentials.token;
    const token = given === '' ? undefined : given;
    if (token === undefined && !this.#verifier.takesAnyone) {
      throw unauthenticated('no token', 'Authentication is required');
    }
    const shown = token === credentials.token ? credentials : new Shown(token, credentials.request);
    this.#admit(shown);
    // What the same caller showed before. Nobody is named '' but whoever shows nothing, where that is enough.
    const known = this.#kept?.find(token ?? '', this.#now());
    if (known !== undefined) return known;
    return andThen(this.#verify(shown), (verification) => {
      this.#count(verification, shown);
      return this.#identityOf(verification, shown);
    });
  }

  revalidate(identity: Identity): MaybePromise<Identity> {
    const shown = this.#shown.get(identity);
    if (shown === undefined) return identity;
    return andThen(this.#verify(shown), (verification) =>
      andThen(this.#identityOf(verification, shown), (present) => {
        if (present.userKey === identity.userKey && present.scope === identity.scope) return present;
        throw unauthenticated('the credentials are of another user now');
      }),
    );
  }

  carry(identity: Identity): CarriedIdentity {
    const shown = this.#shown.get(identity);
    return { identity, ...(shown && { shown }) };
  }

  receive({ identity, shown }: CarriedIdentity): Identity {
    if (shown) this.#shown.set(identity, shown);
    return identity;
  }

  #admit({ token, request }: Credentials): void {
    if (token === undefined || !this.#guessable) return;
    this.#attempts.admit(request.ip, token);
    this.#unjudged.admit(request.ip, token);
  }

  #count(verification: Verification, shown: Credentials): void {
    const { token, request } = shown;
    if (token === undefined || !this.#guessable) return;
    // Tries made at the same time may have failed meanwhile. The rest of them, right or wrong, get one and the same answer, or a
    // burst of guesses would tell more than its allowance.
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

  #identityOf(verification: Verification, shown: Credentials): MaybePromise<Identity> {
    if (!verification.ok) throw verification.error ?? unauthenticated(verification.reason);
    const { expiresAt } = verification;
    return andThen(this.#hydrate(verification.user, expiresAt, shown), (user) => {
      const identity = this.identify(user, expiresAt);
      if (this.#revocable) this.#shown.set(identity, withoutRaw(shown));
      this.#kept?.keep(shown.token ?? '', this.#unchangeable(identity), this.#now());
      return identity;
    });
  }

  /** Of a token's own claims the next request gets the same user: no handler may change it for others. What the host configured is its own. */
  #unchangeable(identity: Identity): Identity {
    return this.#auth.type === 'jwt' ? deepFreeze(identity) : identity;
  }

  #hydrate(user: UserLike, expiresAt: number | undefined, credentials: Credentials): MaybePromise<UserLike> {
    const { hydrateUser } = this.#auth;
    if (hydrateUser === undefined) return user;
    const { token, request } = credentials;
    const run = () => hydrateUser({ valid: true, user: user as BaseUser, expiresAt }, request);
    return andThen(this.#host.call<UserLike>({ name: 'auth.hydrateUser', token, run }), (outcome) => {
      if (!outcome.ok) {
        throw outcome.bad ? unauthenticated('hydrateUser found the token to be bad') : outcome.error;
      }
      const problem = userProblem(outcome.value);
      if (problem !== undefined) this.#host.report(`auth.hydrateUser: ${problem}`);
      return outcome.value;
    });
  }

  #tell(error: unknown, { token, request }: Credentials): void {
    // Who shows nothing is told to authenticate, which is no event.
    if (!token && request.headers.cookie === undefined) return;
    if (!isGatewayError(error)) return;
    const { code, cause, message } = error;
    const { ip: address, requestId } = request;
    const reason = typeof cause === 'string' ? cause : message;
    this.#onRefused({ code, reason, address, ...(requestId !== undefined && { requestId }) });
  }
}

/** Whether a user is the one that all callers without an identity of their own are. */
function isEverybody(auth: AuthConfig, { id }: UserContext): boolean {
  if (auth.type === 'none') return id === 'anonymous';
  return auth.type === 'token' && auth.user === undefined && id === 'token';
}

/** Keys of a JWT that come from elsewhere can be withdrawn; a fixed one can't. */
function isRevocable(auth: AuthConfig): boolean {
  if (auth.hydrateUser !== undefined || auth.type === 'custom') return true;
  if (auth.type === 'token') return typeof auth.token === 'function';
  return (auth as { readonly jwksUri?: string }).jwksUri !== undefined;
}

/** Whether a token that was good is good until it expires, and its bearer the same. A function of the host's may say something else each time. */
function isLasting(auth: AuthConfig, sessionScope: SessionScope | undefined): boolean {
  return !isRevocable(auth) && (auth.type === 'token' || typeof sessionScope !== 'function');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner);
  return value;
}

// A connection may be open for days: it is not to hold its whole request.
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
    return createJwtVerifier(auth, { now, report: (message) => host.report(message) });
  }
  if (auth.type === 'custom') return createCustomVerifier(auth, host, now);
  const anonymous: Verification = { ok: true, user: { id: 'anonymous' } };
  return { takesAnyone: true, strongTokens: false, verify: () => anonymous };
}
