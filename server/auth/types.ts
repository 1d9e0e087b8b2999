import type { BaseUser, Register, UserContext } from '../../shared/contract.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** What authentication may look at besides the token. */
export interface AuthRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The peer's address; empty on a Unix socket. */
  readonly ip: string;
  /** The transport's own request, for example Node's `IncomingMessage`. */
  readonly raw?: unknown;
  /** Names the request in its answer and the log. */
  readonly requestId?: string;
}

/** A user as host code hands it over: a literal with any further fields, or a value of the host's own type. */
export type UserLike =
  | BaseUser
  | {
      readonly id: string;
      readonly roles?: readonly string[] | undefined;
      readonly tenantId?: string | undefined;
      readonly email?: string | undefined;
      /** A program that speaks for many people: `limits.shared` bounds it, not the limits of a user. */
      readonly service?: boolean | undefined;
    };

/** The answer of `custom.validate`. */
export interface AuthResult {
  readonly valid: boolean;
  /** Needed when valid; `id` is a non-empty string. */
  readonly user?: UserLike | undefined;
  /** Epoch milliseconds at which connections of this caller are closed. */
  readonly expiresAt?: number | undefined;
}

/** What `hydrateUser` gets: a result that authentication accepted. */
export interface ValidAuthResult extends AuthResult {
  readonly valid: true;
  readonly user: BaseUser;
}

/** What `hydrateUser` returns: the registered user type where there is one. */
export type HydratedUser = Register extends { user: infer User } ? User & { readonly id: string } : UserLike;

/**
 * Turns what authentication found into the user that handlers see. The returned user replaces the other one, identity
 * fields included. A throw, or no answer in 10 s, refuses the caller with `AUTH_UNAVAILABLE`; a thrown `GatewayError`
 * reaches the caller as it is.
 */
export type HydrateUser = (result: ValidAuthResult, request: AuthRequest) => MaybePromise<HydratedUser>;

interface Hydrated {
  readonly hydrateUser?: HydrateUser | undefined;
}

/** Everyone is the user `anonymous`. */
export interface NoAuth extends Hydrated {
  readonly type: 'none';
}

/** Where accepted tokens come from: fixed, several during a rotation, or asked for at each call. */
export type TokenSource = string | readonly string[] | (() => MaybePromise<string | readonly string[]>);

/** Shared secret tokens of at least 32 bytes. */
export interface TokenAuth extends Hydrated {
  readonly type: 'token';
  readonly token: TokenSource;
  /** Who a bearer of the token is. @default { id: 'token' } */
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

/** When published keys are fetched. */
export interface JwksOptions {
  /** How long the address may take to answer, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** How long after a fetch a token with an unknown key causes none, in milliseconds. @default 30_000 */
  readonly cooldownMs?: number | undefined;
  /** Age at which keys are fetched again, in milliseconds. While that fails, the known ones stay good. @default 600_000 */
  readonly maxAgeMs?: number | undefined;
}

/** Where the keys of a JWT configuration come from. */
export type JwtKeySource =
  | {
      /** A shared secret of at least 32 bytes, or a PEM public key or certificate (then name `algorithms`). */
      readonly secret: string | Uint8Array;
      readonly jwksUri?: undefined;
      readonly jwks?: undefined;
    }
  | {
      /** Where the issuer publishes its keys, an `https:` URL of a JSON Web Key Set. Name `issuer` and `audience` too. */
      readonly jwksUri: string;
      readonly jwks?: JwksOptions | undefined;
      readonly secret?: undefined;
    };

/** JSON Web Tokens: `sub` is the user's id; `roles`, `tenantId` and `email` are taken over, the payload is `claims`. */
export type JwtAuth = JwtRules & JwtKeySource;

/** What a token has to be, whatever its key. */
export interface JwtRules extends Hydrated {
  readonly type: 'jwt';
  /** The exact `iss`, or several of which one has to match. */
  readonly issuer?: string | readonly string[] | undefined;
  /** The exact `aud`, or several of which one has to match. */
  readonly audience?: string | readonly string[] | undefined;
  /** @default ['HS256'], with `jwksUri` ['RS256', 'ES256', 'EdDSA'] */
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
  /** Refuses tokens without `exp`. @default false */
  readonly requireExp?: boolean | undefined;
  /** Clock difference to the issuer that `exp` and `nbf` forgive, in seconds. @default 5 */
  readonly clockToleranceSeconds?: number | undefined;
}

/** The host decides. */
export interface CustomAuth extends Hydrated {
  readonly type: 'custom';
  /**
   * Judges a caller, also one without a token (cookies, host sessions). `{ valid: false }` refuses it with `UNAUTHENTICATED`, and so
   * does an error by which `jsonwebtoken` or `jose` say that the token is bad. Any other throw, or no answer in 10 s, is
   * `AUTH_UNAVAILABLE`: nobody could find out. A thrown `GatewayError` reaches the caller as it is. Asked again about callers who have
   * something open, at least every `limits.revalidateMs`; then `request.raw` is absent.
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

/** What a caller presents. */
export interface Credentials {
  readonly token?: string | undefined;
  readonly request: AuthRequest;
}

/** Who a caller is. */
export interface Identity {
  readonly user: UserContext;
  /** Whose sessions a key names. */
  readonly scope: string;
  /** Epoch milliseconds after which the token would be refused. */
  readonly expiresAt?: number;
  /** One text for each user (tenant and id), for limits that count by user. */
  readonly userKey: string;
  /**
   * Many callers are this one user: with `none`, with a `token` without `user`, or a service that authentication marked `service: true`.
   * It has bounds of its own (`limits.shared`), since those of a user are meant for a person.
   */
  readonly shared?: boolean;
  /** A guest by a share link: it reaches that session, and nothing else. */
  readonly guest?: Guest;
}

/** Who shows a share link. */
export interface Guest {
  readonly grantId: string;
}

/**
 * Whether a token is good. `guess`: a refusal that a guesser would get, counted against the address; `unjudged`: one that says nothing
 * about the token.
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
  /** Whether callers without a token are asked about too. */
  readonly takesAnyone: boolean;
  /** Whether a token of 32 characters is out of reach for guessing, so that one seen good may pass an address block. */
  readonly strongTokens: boolean;
  verify(token: string | undefined, request: AuthRequest): MaybePromise<Verification>;
}
