import { GatewayError } from '../../shared/errors.js';
import { settleWithin } from '../async/deadline.js';

/** The store is asked at most this often whether it can be written, however often it is asked for: anybody may ask. */
const CHECK_MS = 1000;

/** Why new work is not taken; told as `details.reason`. */
export type UnreadyReason = 'draining' | 'overloaded' | 'store-closed' | 'store-unwritable' | 'plugin';

/** What readiness depends on. */
export interface ReadinessEnvironment {
  readonly state: { readonly draining: boolean };
  /** Whether new work is refused because there is too much. */
  readonly load: { readonly refusing: boolean };
  readonly store: { check?(): void | Promise<void> };
  /** What those who write are told. */
  readonly written: { readonly isRefused: boolean };
  readonly plugins: { readonly unready: { readonly name: string; readonly failed: boolean } | undefined };
  /** How long is waited for the store, in milliseconds. */
  readonly storeMs: number;
  /** Resolves once the store is open; null when it is. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}

/** Whether a gateway can do what it is there for: asked by load balancers and orchestrators. */
export class Readiness {
  readonly #env: ReadinessEnvironment;
  #checking: Promise<void> | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #writable = true;

  constructor(env: ReadinessEnvironment) {
    this.#env = env;
  }

  /**
   * Opens the store where it is not, and has it written to.
   *
   * @throws GatewayError `SHUTTING_DOWN` while it drains; `OVERLOADED` while it has too much to do, while the store can't be opened or
   * written, and while plugins have not started. `details.reason` says which.
   */
  async check(): Promise<void> {
    const { state, load, storeMs, plugins } = this.#env;
    if (state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN', details: reason('draining') });
    if (load.refusing) throw unready('overloaded', 'The event loop is late: there is too much to do');
    await settleWithin(this.#opened(), storeMs, () => ({
      error: unready('store-closed', 'The store is being opened'),
    }));
    await this.#written();
    const { unready: plugin } = plugins;
    if (!plugin) return;
    const what = plugin.failed ? 'could not be started' : 'has not started yet';
    throw unready('plugin', `The plugin ${plugin.name} ${what}`);
  }

  async #opened(): Promise<void> {
    try {
      await this.#env.ready();
    } catch (error) {
      if (this.#env.state.draining) throw error;
      throw unready('store-closed', 'The store cannot be opened', error);
    }
  }

  async #written(): Promise<void> {
    const now = performance.now();
    if (now - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = now;
      this.#checking = this.#write();
    }
    await this.#checking;
    if (!this.#writable || this.#env.written.isRefused)
      throw unready('store-unwritable', 'The store cannot be written');
  }

  async #write(): Promise<void> {
    try {
      await this.#env.store.check?.();
      this.#writable = true;
    } catch (error) {
      // Once: who asks does so all the time.
      if (this.#writable) this.#env.report(error, 'the store cannot be written');
      this.#writable = false;
    }
  }
}

const reason = (why: UnreadyReason): { readonly reason: UnreadyReason } => ({ reason: why });

function unready(why: UnreadyReason, message: string, cause?: unknown): GatewayError {
  return new GatewayError({
    code: 'OVERLOADED',
    message,
    details: reason(why),
    retryAfterMs: 1000,
    ...(cause !== undefined && { cause }),
  });
}
