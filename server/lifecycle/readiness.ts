import { GatewayError } from '../../shared/errors.js';
import { settleWithin } from '../async/deadline.js';

/** Shortest time between two checks that the store can be written, in milliseconds. Anybody may request a check. */
const CHECK_MS = 1000;

/** Reason why new work is refused, reported as `details.reason`. */
export type UnreadyReason = 'draining' | 'overloaded' | 'store-closed' | 'store-unwritable' | 'plugin';

/** The parts of a gateway that its readiness depends on. */
export interface ReadinessEnvironment {
  readonly state: { readonly draining: boolean };
  /** Whether new work is refused because of high load. */
  readonly load: { readonly refusing: boolean };
  readonly store: { check?(): void | Promise<void> };
  /** Whether the store refuses writes at present. */
  readonly written: { readonly isRefused: boolean };
  readonly plugins: { readonly unready: { readonly name: string; readonly failed: boolean } | undefined };
  /** Time limit for opening the store, in milliseconds. */
  readonly storeMs: number;
  /** Resolves once the store is open; null if it is. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}

/** Tells load balancers and orchestrators whether a gateway can do its work. */
export class Readiness {
  readonly #env: ReadinessEnvironment;
  #checking: Promise<void> | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #writable = true;

  constructor(env: ReadinessEnvironment) {
    this.#env = env;
  }

  /**
   * Opens the store if needed, and checks that it can be written.
   *
   * @throws GatewayError `SHUTTING_DOWN` while the gateway drains; `OVERLOADED` under high load, while the store can't be opened or
   * written, and while plugins have not started. `details.reason` names the reason.
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
      // Report it once: load balancers ask all the time.
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
