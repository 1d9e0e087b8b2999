import type { BaseUser } from '../../shared/contract.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { AttemptLimiter, type AttemptLimits } from './attempts.js';
import { MAX_TOKEN_LENGTH } from './credentials.js';
import { createCustomVerifier } from './custom.js';
import { HostCode } from './host-call.js';
import { createIdentify, type Identify, userProblem } from './identity.js';
import { createJwtVerifier } from './jwt.js';
import { unauthenticated } from './refusal.js';
import type { SessionScope } from './scope.js';
import { createTokenVerifier } from './static-token.js';
import type { AuthConfig, Credentials, Identity, UserLike, Verification, Verifier } from './types.js';

export interface AuthenticatorOptions {
  readonly auth: AuthConfig;
  /** @default 'user' */
  readonly sessionScope?: SessionScope | undefined;
  readonly attempts?: AttemptLimits | undefined;
  /** How long `validate`, `hydrateUser` and token functions may take. @default 10_000 */
  readonly hostTimeoutMs?: number | undefined;
  /** Told about failures of host code; credentials are cut out. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** The one way in, whatever the transport. */
export interface Authenticator {
  /**
   * Finds out who a caller is; synchronous with a static token and without any. Throws, or rejects:
   *
   * @throws GatewayError `UNAUTHENTICATED` (its `cause` says why, for the log), `AUTH_UNAVAILABLE` when that cannot be
   * found out now, `RATE_LIMITED` with `retryAfterMs` when
   * the address failed too often, or the host's own `GatewayError`.
   */
  authenticate(credentials: Credentials): MaybePromise<Identity>;
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

class ConfiguredAuthenticator implements Authenticator {
  readonly identify: Identify;
  readonly #auth: AuthConfig;
  readonly #verifier: Verifier;
  readonly #attempts: AttemptLimiter;
  readonly #host: HostCode;
  #known: { readonly user: UserLike; readonly identity: Identity } | null = null;

  constructor(options: AuthenticatorOptions) {
    const now = options.now ?? (() => Date.now());
    this.identify = createIdentify(options.sessionScope);
    this.#auth = options.auth;
    this.#host = new HostCode(options.hostTimeoutMs ?? 10_000, options.onError ?? (() => {}));
    this.#attempts = new AttemptLimiter(options.attempts);
    this.#verifier = createVerifier(options.auth, this.#host, now);
  }

  authenticate(credentials: Credentials): MaybePromise<Identity> {
    const given = this.#auth.type === 'none' ? undefined : credentials.token;
    const token = given === '' ? undefined : given;
    const { ip } = credentials.request;
    if (token === undefined && !this.#verifier.takesAnyone) {
      throw unauthenticated('no token', 'Authentication is required');
    }
    if (token !== undefined) this.#attempts.admit(ip, token);
    const verification = this.#verify({ ...credentials, token });
    if (!isPromise(verification)) return this.#finish(verification, { ...credentials, token });
    return verification.then((settled) => {
      // Tries made at the same time have failed meanwhile: without this they would share one allowance.
      if (token !== undefined && settled.ok) this.#attempts.admit(ip, token);
      return this.#finish(settled, { ...credentials, token });
    });
  }

  #verify({ token, request }: Credentials): MaybePromise<Verification> {
    if (token !== undefined && token.length > MAX_TOKEN_LENGTH) {
      return { ok: false, reason: 'the token is too long', guess: true };
    }
    return this.#verifier.verify(token, request);
  }

  #finish(verification: Verification, { token, request }: Credentials): MaybePromise<Identity> {
    if (!verification.ok) {
      if (verification.guess && token !== undefined) this.#attempts.fail(request.ip, token);
      throw verification.error ?? unauthenticated(verification.reason);
    }
    if (token !== undefined && this.#verifier.strongTokens) this.#attempts.remember(token);
    const { expiresAt } = verification;
    if (expiresAt === undefined && this.#auth.hydrateUser === undefined && this.#auth.type === 'token') {
      return this.#shared(verification.user);
    }
    const user = this.#hydrate(verification.user, expiresAt, { token, request });
    return andThen(user, (hydrated) => this.identify(hydrated, expiresAt));
  }

  /** Bearers of a static token are one configured user: worked out once. */
  #shared(user: UserLike): Identity {
    if (this.#known?.user !== user) this.#known = { user, identity: this.identify(user) };
    return this.#known.identity;
  }

  #hydrate(user: UserLike, expiresAt: number | undefined, credentials: Credentials): MaybePromise<UserLike> {
    const { hydrateUser } = this.#auth;
    if (hydrateUser === undefined) return user;
    const { token, request } = credentials;
    const run = () => hydrateUser({ valid: true, user: user as BaseUser, expiresAt }, request);
    return andThen(this.#host.call<UserLike>({ name: 'auth.hydrateUser', token, run }), (outcome) => {
      if (!outcome.ok) throw outcome.error ?? unauthenticated('hydrateUser failed');
      const problem = userProblem(outcome.value);
      if (problem !== undefined) this.#host.report(`auth.hydrateUser: ${problem}`);
      return outcome.value;
    });
  }
}

function createVerifier(auth: AuthConfig, host: HostCode, now: () => number): Verifier {
  if (auth.type === 'token') return createTokenVerifier(auth, host);
  if (auth.type === 'jwt') {
    return createJwtVerifier(auth, { now, report: (message) => host.report(message) });
  }
  if (auth.type === 'custom') return createCustomVerifier(auth, host, now);
  const anonymous: Verification = { ok: true, user: { id: 'anonymous' } };
  return { takesAnyone: true, strongTokens: false, verify: () => anonymous };
}
