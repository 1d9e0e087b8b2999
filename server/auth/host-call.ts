import { inspect } from 'node:util';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { badnessOf } from './bad-token.js';

/**
 * The outcome of a call of host code. Without a value, `error` is for the caller, or `bad` tells that a library's error marked the token as
 * bad.
 */
export type HostOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: GatewayError; readonly bad?: undefined }
  | { readonly ok: false; readonly bad: 'untimely' | 'wrong' };

/** One call of host code: its name for the log, and the credential that must stay out of the log. */
export interface HostCall<T> {
  readonly name: string;
  readonly token: string | undefined;
  readonly run: () => MaybePromise<T>;
}

/** Runs `validate`, `hydrateUser` and token functions, with a time limit, since they may never return. */
export class HostCode {
  readonly #timeoutMs: number;
  readonly #onError: (error: unknown) => void;

  constructor(timeoutMs: number, onError: (error: unknown) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onError = onError;
  }

  /** Calls the function; synchronous if the host's function is. Never throws. */
  call<T>(call: HostCall<T>): MaybePromise<HostOutcome<T>> {
    try {
      const value = call.run();
      return isPromise(value) ? this.#settle(value, call) : { ok: true, value };
    } catch (error) {
      return this.#failed(error, call);
    }
  }

  /** Logs a mistake in host code. */
  report(message: string): void {
    this.#onError(new GatewayError({ code: 'INTERNAL', message }));
  }

  #settle<T>(promise: Promise<T>, call: HostCall<T>): Promise<HostOutcome<T>> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.report(`${call.name} did not answer within ${this.#timeoutMs} ms`);
        resolve({ ok: false, error: unavailable() });
      }, this.#timeoutMs);
      timer.unref();
      promise.then(
        (value) => {
          clearTimeout(timer);
          resolve({ ok: true, value });
        },
        (error: unknown) => {
          clearTimeout(timer);
          resolve(this.#failed(error, call));
        },
      );
    });
  }

  #failed<T>(error: unknown, { name, token }: HostCall<T>): HostOutcome<T> {
    const text = token === undefined || token.length < 8 ? '' : inspect(error, { depth: 4 });
    const leaked = token !== undefined && text.includes(token);
    if (isGatewayError(error) && !leaked) return { ok: false, error };
    const bad = badnessOf(error);
    if (bad) return { ok: false, bad };
    // Messages like "bad token eyJ…" are common in host code.
    if (leaked) this.report(`${name} threw ${text.replaceAll(token, '[token]')}`);
    else this.#onError(error);
    return { ok: false, error: unavailable() };
  }
}

/** The credentials could not be checked. That is not the caller's fault, and may pass. */
function unavailable(): GatewayError {
  return new GatewayError({ code: 'AUTH_UNAVAILABLE', retryAfterMs: 1000 });
}
