import type { KeyObject } from 'node:crypto';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { HostCode } from './host-call.js';
import { isPem, jwtKey } from './jwt-key.js';
import { isShortSecret, SHORT_SECRET } from './secrets.js';
import type { JwtAlgorithm, JwtSecret, JwtSecretSource, Verification } from './types.js';

/** The keys of a moment, or the reason why there are none. */
export type FoundKeys = readonly KeyObject[] | Extract<Verification, { readonly ok: false }>;

interface SecretsOptions {
  readonly algorithms: readonly JwtAlgorithm[];
  readonly host: HostCode;
  /** Whether secrets of a function must be long, because other machines can reach the gateway. */
  readonly exposed: boolean;
}

/** The secrets of a JWT configuration as keys: fixed ones, or those that a function gives at each call. */
export class JwtSecrets {
  readonly #source: JwtSecretSource;
  readonly #options: SecretsOptions;
  /** The keys of the secrets that were given last. Most functions give the same again. */
  #made: { readonly name: string; readonly keys: readonly KeyObject[] } = { name: '', keys: [] };

  /** @throws GatewayError `INVALID_REQUEST` naming `auth.secret` or `auth.algorithms` */
  constructor(source: JwtSecretSource, options: SecretsOptions) {
    this.#source = source;
    this.#options = options;
    if (typeof source !== 'function') this.#keysOf(secretsOf(source));
  }

  /** @param token Credential that must stay out of the log */
  find(token: string): MaybePromise<FoundKeys> {
    const source = this.#source;
    if (typeof source !== 'function') return this.#made.keys;
    const { host } = this.#options;
    return andThen(host.call({ name: 'auth.secret', token, run: source }), (outcome): FoundKeys => {
      if (outcome.ok) return this.#given(outcome.value);
      return outcome.bad ? UNKNOWN : { ...UNKNOWN, error: outcome.error };
    });
  }

  #given(value: unknown): FoundKeys {
    const { host, exposed } = this.#options;
    const given = secretsOf(value);
    const usable = exposed ? given.filter((one) => isPem(one) || !isShortSecret(one)) : given;
    if (usable.length < given.length) host.report(`auth.secret: a secret ${SHORT_SECRET}`);
    if (given.length === 0) host.report('auth.secret returned no secret');
    if (usable.length === 0) return UNKNOWN;
    try {
      return this.#keysOf(usable);
    } catch (error) {
      host.report(error instanceof Error ? error.message : 'auth.secret: this is no key');
      return UNKNOWN;
    }
  }

  #keysOf(secrets: readonly JwtSecret[]): readonly KeyObject[] {
    const name = secrets.map((secret) => Buffer.from(secret as Uint8Array).toString('base64')).join(' ');
    if (name !== this.#made.name || this.#made.keys.length === 0)
      this.#made = { name, keys: secrets.map((secret) => jwtKey(secret, this.#options.algorithms)) };
    return this.#made.keys;
  }
}

const UNKNOWN = { ok: false, reason: 'auth.secret gave no secret', guess: false } as const;

/** The secrets of a source. Values come from host code: an unset environment variable must not become a secret. */
export function secretsOf(value: unknown): JwtSecret[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter(
    (one): one is JwtSecret => (typeof one === 'string' || one instanceof Uint8Array) && one.length > 0,
  );
}
