import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../../shared/errors.js';
import type { JwksOptions } from './types.js';

const MAX_BYTES = 1024 * 1024;
/** The shortest time between attempts at an address that never answered yet. */
const FIRST_RETRY_MS = 1000;

/**
 * The keys that an issuer publishes as a JSON Web Key Set. They are fetched with the first token, again when they are old, and again when a
 * token names an unknown key, which is how a rotation is noticed. While the address does not answer, the known keys stay good.
 */
export class RemoteKeys {
  readonly #uri: string;
  readonly #timeoutMs: number;
  readonly #cooldownMs: number;
  readonly #maxAgeMs: number;
  readonly #report: (message: string) => void;
  #keys: JWTVerifyGetKey | null = null;
  #failed = false;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | null = null;

  /** @param report Receives the reason why the keys could not be fetched. */
  constructor(uri: string, options: JwksOptions, report: (message: string) => void) {
    this.#uri = uri;
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#cooldownMs = options.cooldownMs ?? 30_000;
    this.#maxAgeMs = options.maxAgeMs ?? 600_000;
    this.#report = report;
  }

  /**
   * Finds the key of a token.
   *
   * @throws GatewayError `AUTH_UNAVAILABLE` if the key is not known and the address does not answer; an error of `jose` if there is no such
   * key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys(header, token);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      if (this.#mayTry(this.#cooldownMs)) await this.#load();
      if (this.#failed) throw this.#unavailable();
      if (this.#keys === keys) throw error;
      return this.#keys!(header, token);
    }
  };

  async #current(): Promise<JWTVerifyGetKey> {
    if (this.#keys === null) {
      if (this.#mayTry(Math.min(FIRST_RETRY_MS, this.#cooldownMs))) await this.#load();
    } else if (performance.now() - this.#fetchedAt >= this.#maxAgeMs && this.#mayTry(this.#cooldownMs)) {
      const failing = this.#failed;
      const loading = this.#load();
      // If the address has failed before, the known keys serve without waiting for it.
      if (!failing) await loading;
    }
    if (this.#keys === null) throw this.#unavailable();
    return this.#keys;
  }

  #mayTry(afterMs: number): boolean {
    return this.#loading !== null || performance.now() - this.#triedAt >= afterMs;
  }

  /** Fetches the keys once for all concurrent callers. Never rejects. */
  #load(): Promise<void> {
    this.#loading ??= this.#fetch()
      .then(
        (keys) => {
          this.#keys = keys;
          this.#failed = false;
          this.#fetchedAt = performance.now();
        },
        (error: unknown) => {
          this.#failed = true;
          this.#report(`auth.jwksUri: ${this.#uri} gave no keys: ${reasonOf(error)}`);
        },
      )
      .finally(() => {
        this.#triedAt = performance.now();
        this.#loading = null;
      });
    return this.#loading;
  }

  async #fetch(): Promise<JWTVerifyGetKey> {
    const response = await fetch(this.#uri, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw noKeys(`status ${response.status}`);
    }
    const { createLocalJWKSet } = await import('jose');
    return createLocalJWKSet(JSON.parse(await textOf(response)) as JSONWebKeySet);
  }

  #unavailable(): GatewayError {
    return new GatewayError({
      code: 'AUTH_UNAVAILABLE',
      retryAfterMs: FIRST_RETRY_MS,
      cause: `${this.#uri} gave no keys`,
    });
  }
}

/** The whole body, up to a size that no set of keys exceeds. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Not every TypeScript library types the stream as iterable; in Node it is.
  const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw noKeys(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function noKeys(message: string): GatewayError {
  return new GatewayError({ code: 'AUTH_UNAVAILABLE', message });
}

/** The reason why a fetch failed, which `fetch` hides in the error's cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
