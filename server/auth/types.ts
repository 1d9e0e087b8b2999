import type { BaseUser, Register, UserContext } from '../../shared/contract.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** The request of a caller, beside the token. */
export interface AuthRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The peer's address; empty on a Unix socket. */
  readonly ip: string;
  /** The transport's own request, for example Node's `IncomingMessage`. */
  readonly raw?: unknown;
  /** The request's id in its response and the log. */
  readonly requestId?: string;
}

/** A user from host code: a literal with any further fields, or a value of the host's own type. */
export type UserLike =
  | BaseUser
  | {
      readonly id: string;
      readonly roles?: readonly string[] | undefined;
      readonly tenantId?: string | undefined;
      readonly email?: string | undefined;
      /** Marks a program that speaks for many people. `limits.shared` applies to it instead of a user's limits. */
      readonly service?: boolean | undefined;
    };

/** The result of `custom.validate`. */
export interface AuthResult {
  readonly valid: boolean;
  /** Required if valid; `id` is a non-empty string. */
  readonly user?: UserLike | undefined;
  /** Epoch milliseconds at which connections of this caller are closed. */
  readonly expiresAt?: number | undefined;
}

/** The input of `hydrateUser`: a result that authentication accepted. */
export interface ValidAuthResult extends AuthResult {
  readonly valid: true;
  readonly user: BaseUser;
  /** Set where nobody has called: a schedule of the user fires. The user then has an id and perhaps a tenant alone, and the request is empty. */
  readonly absent?: true;
}

/** The result of `hydrateUser`: the registered user type, if there is one. */
export type HydratedUser = Register extends { user: infer User } ? User & { readonly id: string } : UserLike;

/**
 * Turns the result of authentication into the user that handlers see. The returned user replaces the other one, identity fields included. A
 * throw, or no answer in 10 s, refuses the caller with `AUTH_UNAVAILABLE`; a thrown `GatewayError` reaches the caller as it is.
 */
export type HydrateUser = (result: ValidAuthResult, request: AuthRequest) => MaybePromise<HydratedUser>;

interface Hydrated {
  readonly hydrateUser?: HydrateUser | undefined;
}

/** Everyone is the user `anonymous`. */
export interface NoAuth extends Hydrated {
  readonly type: 'none';
}

/** The accepted tokens: one, several during a rotation, or a function that is called each time. */
export type TokenSource = string | readonly string[] | (() => MaybePromise<string | readonly string[]>);

/** Shared secret tokens of at least 32 bytes. */
export interface TokenAuth extends Hydrated {
  readonly type: 'token';
  readonly token: TokenSource;
  /** The user of the token's bearers. @default { id: 'token' } */
  readonly user?: UserLike | undefined;
}

/** Signature algorithms that can be allowed. */
export const JWT_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Options for fetching published keys. */
export interface JwksOptions {
  /** Milliseconds that the address may take to answer. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds after a fetch in which a token with an unknown key causes no other. @default 30_000 */
  readonly cooldownMs?: number | undefined;
  /** Milliseconds after which keys are fetched again. While that fails, the known ones stay good. @default 600_000 */
  readonly maxAgeMs?: number | undefined;
}

/** A shared secret of at least 32 bytes, or a PEM public key or certificate (then name `algorithms`). */
export type JwtSecret = string | Uint8Array;

/** The accepted secrets: one, several during a rotation, or a function that is called for each token. */
export type JwtSecretSource =
  | JwtSecret
  | readonly JwtSecret[]
  | (() => MaybePromise<JwtSecret | readonly JwtSecret[]>);

/** The source of a JWT configuration's keys. */
export type JwtKeySource =
  | {
      readonly secret: JwtSecretSource;
      readonly jwksUri?: undefined;
      readonly jwks?: undefined;
    }
  | {
      /** The `https:` URL of the issuer's JSON Web Key Set. Name `issuer` and `audience` too. */
      readonly jwksUri: string;
      readonly jwks?: JwksOptions | undefined;
      readonly secret?: undefined;
    };

/** JSON Web Tokens: `sub` becomes the user's id; `roles`, `tenantId` and `email` are copied; the payload is `claims`. */
export type JwtAuth = JwtRules & JwtKeySource;

/** The requirements for a token, whatever its key. */
export interface JwtRules extends Hydrated {
  readonly type: 'jwt';
  /** The exact `iss`, or a list that must contain it. */
  readonly issuer?: string | readonly string[] | undefined;
  /** The exact `aud`, or a list that must contain one of them. */
  readonly audience?: string | readonly string[] | undefined;
  /** @default ['HS256'], with `jwksUri` ['RS256', 'ES256', 'EdDSA'] */
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
  /** Refuses tokens without `exp`. @default false */
  readonly requireExp?: boolean | undefined;
  /** Clock difference to the issuer that `exp` and `nbf` forgive, in seconds. @default 5 */
  readonly clockToleranceSeconds?: number | undefined;
}

/** The host authenticates callers. */
export interface CustomAuth extends Hydrated {
  readonly type: 'custom';
  /**
   * Judges a caller, also one without a token (cookies, host sessions). `{ valid: false }` refuses the caller with `UNAUTHENTICATED`, and
   * so does an error by which `jsonwebtoken` or `jose` mark a bad token. Any other throw, or no answer in 10 s, is `AUTH_UNAVAILABLE`: the
   * caller could not be checked. A thrown `GatewayError` reaches the caller as it is. Callers with something open are judged again at least
   * every `limits.revalidateMs`; `request.raw` is then absent.
   */
  validate(token: string | undefined, request: AuthRequest): MaybePromise<AuthResult>;
  /**
   * False declares that `validate` ignores cookies, so that a browser's request without a token needs no allowed
   * `Origin`. @default true
   */
  readonly cookies?: boolean | undefined;
}

/** How callers are authenticated; the same on every transport. */
export type AuthConfig = NoAuth | TokenAuth | JwtAuth | CustomAuth;

/** A caller's credentials. */
export interface Credentials {
  readonly token?: string | undefined;
  readonly request: AuthRequest;
}

/** Whose allowance a caller uses: rates, calls at once, connections, places. */
export interface Payer {
  readonly key: string;
  /**
   * `many`: an identity that many callers share, with `none`, with a `token` without `user`, or as a service that authentication marked
   * `service: true`. It has limits of its own (`limits.shared`), since those of a user are meant for a person. `link`: all who bear one link.
   */
  readonly kind: 'person' | 'many' | 'link';
  /** For a link: those who gave it. All their links share an allowance too. */
  readonly within?: string;
}

/** The caller who acts. Authentication makes it; all others see nothing else of a caller. */
export interface Person {
  /** The user, as the host's code sees it. */
  readonly user: UserContext;
  /** The id that others see of the person. All bearers of a link have one, however many names they show. */
  readonly id: string;
  /**
   * Tells people apart, for votes, places, reactions, read places: a user in its tenant; for a link its grant, whatever stands behind the dot.
   */
  readonly key: string;
  readonly pays: Payer;
  /** The scope in which the caller's session keys are resolved. */
  readonly scope: string;
  /** Epoch milliseconds after which the token would be refused. */
  readonly expiresAt?: number;
  /** Present for a guest by a share link, who reaches that session and nothing else. */
  readonly link?: Guest;
}

/** The bearer of a share link. */
export interface Guest {
  readonly grantId: string;
  /** Id of the person who gave the link. In votes, all who bear it are that person. */
  readonly givenBy: string;
  /** Scope of that session. */
  readonly scope: string;
}

/**
 * The outcome of verifying a token. `guess`: a refusal that a guesser would get, counted against the address. `unjudged`: a refusal that
 * says nothing about the token.
 */
export type Verification =
  | { readonly ok: true; readonly user: UserLike; readonly expiresAt?: number | undefined }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly guess: boolean;
      readonly unjudged?: boolean;
      readonly error?: unknown;
    };

/** One way to verify tokens. */
export interface Verifier {
  /** Whether callers without a token are verified too. */
  readonly takesAnyone: boolean;
  /** Whether a token of 32 characters cannot be guessed, so that a token known as good may pass an address block. */
  readonly strongTokens: boolean;
  verify(token: string | undefined, request: AuthRequest): MaybePromise<Verification>;
}
