import { GatewayError } from '../../shared/errors.js';
import { within } from '../async/deadline.js';
import type { ReadyState, UnreadyReason } from '../diagnostics/ready-state.js';
import { StoreError } from '../stores/append.js';

/** Time between two looks at the store while somebody asks, in milliseconds. */
const LOOK_MS = 1000;
/** Time after which a store that has not answered counts as silent, in milliseconds. */
export const SILENT_MS = 1000;
/** Time after a connection was cut for want of descriptors in which new ones should go elsewhere, in milliseconds. */
const DROPPED_MS = 10_000;
/** Time for which the store is looked at after a question, in milliseconds. A gateway that nobody asks writes nothing. */
const WATCHED_MS = 60_000;
/** Difference of the clocks of this process and of a shared store at which tokens are judged by a wrong time, in milliseconds. */
const SKEW_MS = 60_000;

type StoreReason = Extract<UnreadyReason, `store-${string}` | 'starting'>;

const SAID: Readonly<Record<StoreReason, string>> = {
  starting: 'The gateway starts',
  'store-full': 'The store has no room left',
  'store-closed': 'The store is not open',
  'store-silent': 'The store does not answer',
  'store-unwritable': 'The store cannot be written',
};

/** The parts of a gateway that its readiness depends on. */
export interface ReadinessEnvironment {
  readonly state: {
    readonly draining: boolean;
    readonly open: boolean;
    readonly lameDuck: boolean;
    readonly droppedAt: number;
  };
  /** Whether new work is refused because of high load. */
  readonly load: { readonly refusing: boolean };
  /** Whether new work is refused because the heap is nearly full. */
  readonly heap: { readonly refusing: boolean };
  readonly store: { check?(): void | Promise<void>; readonly shared?: { readonly skewMs: number } };
  /** Whether the store refuses writes of several sessions at present, and when it took the last one, by the monotonic clock. */
  readonly written: { readonly isRefused: boolean; readonly tookAt: number };
  readonly plugins: { readonly unready: { readonly name: string; readonly failed: boolean } | undefined };
  /** The knowledge of what former processes left, which the store tells. */
  readonly left: { readonly isKnown: boolean; readonly known: Promise<void> };
  /** Time limit for calls of the store, in milliseconds. */
  readonly storeMs: number;
  /** Resolves once the store is open, and reports why it cannot be opened; null if it is open. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}

/**
 * Tells load balancers and orchestrators whether a gateway can do its work. While they ask, the store is looked at each second, and they are
 * answered from what the looks have found: a store that does not answer holds up no answer.
 */
export class Readiness {
  readonly #env: ReadinessEnvironment;
  /** The look that is under way. Resolves once it has found something, or the store counts as silent. */
  #look: Promise<void> | null = null;
  /** The finding of the last look; null: the store can be written. */
  #found: StoreReason | null = 'starting';
  /** The answer that was given last, and since when it holds. */
  #said: { readonly reason: UnreadyReason | null; readonly at: number } | null = null;
  #silentSince = Number.POSITIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #watch: NodeJS.Timeout | undefined;

  constructor(env: ReadinessEnvironment) {
    this.#env = env;
  }

  /**
   * Opens the store if needed. The first who asks waits until the store is looked at, a second at most.
   *
   * @throws GatewayError `SHUTTING_DOWN` while the gateway drains; `OVERLOADED` under high load, while the store can't be opened or
   * written, while plugins have not started, and until it is known what was left unfinished. `details.reason` names the reason.
   */
  async check(): Promise<void> {
    const { state, load, plugins, left } = this.#env;
    this.#askedAt = performance.now();
    if (!state.draining && !load.refusing && !this.#watch) {
      await this.look();
      if (state.open) this.#watch ??= setInterval(() => this.#lookAgain(), LOOK_MS).unref();
      if (state.open && !plugins.unready && !left.isKnown)
        await within(left.known, Math.min(SILENT_MS, this.#env.storeMs));
    }
    const refusal = this.#refusal();
    this.#says(refusal?.why ?? null);
    if (refusal) throw refusal.error;
  }

  /** The answer from memory. Asking for it has the store looked at, as `check` does. */
  get state(): ReadyState {
    this.#askedAt = performance.now();
    if (this.#env.state.open && !this.#env.state.draining && !this.#watch) {
      void this.look();
      this.#watch = setInterval(() => this.#lookAgain(), LOOK_MS).unref();
    }
    const { reason, at } = this.#says(this.#refusal()?.why ?? null);
    return { reason, forMs: performance.now() - at };
  }

  /** The error with which `check` would refuse, from memory; null if new work is taken. */
  get refusal(): GatewayError | null {
    return this.state.reason === null ? null : (this.#refusal()?.error ?? null);
  }

  #says(reason: UnreadyReason | null): { readonly reason: UnreadyReason | null; readonly at: number } {
    if (this.#said?.reason !== reason) this.#said = { reason, at: performance.now() };
    return this.#said!;
  }

  #refusal(): NotReady | null {
    const { state, load, heap, plugins, left } = this.#env;
    if (state.draining) return leaving('draining', 'The gateway drains');
    if (state.lameDuck) return leaving('lame-duck', 'The gateway serves, and takes no new clients');
    if (performance.now() - state.droppedAt < DROPPED_MS)
      return unready('descriptors', 'The process has as many connections as its file descriptors allow');
    if (load.refusing) return unready('overloaded', 'The event loop is late: there is too much to do');
    if (heap.refusing) return unready('memory', 'The heap of the process is nearly full');
    const found = this.#storeReason();
    if (found) return unready(found, SAID[found]);
    if (state.open && Math.abs(this.#env.store.shared?.skewMs ?? 0) > SKEW_MS)
      return unready('clock', 'The clocks of this gateway and its store differ by more than a minute');
    const { unready: plugin } = plugins;
    if (!plugin)
      return left.isKnown
        ? null
        : unready('recovering', 'The store has not told yet what was left unfinished');
    const what = plugin.failed ? 'could not be started' : 'has not started yet';
    return unready('plugin', `The plugin ${plugin.name} ${what}`);
  }

  #storeReason(): StoreReason | null {
    const { store, written } = this.#env;
    // It has answered others since.
    const isHeard = this.#found === 'store-silent' && written.tookAt > this.#silentSince;
    const found = isHeard ? null : this.#found;
    // A store that takes what its own check writes refuses those sessions, and no others.
    return found ?? (written.isRefused && !store.check ? 'store-unwritable' : null);
  }

  #lookAgain(): void {
    if (!this.#env.state.draining && performance.now() - this.#askedAt < WATCHED_MS) void this.look();
    else {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
  }

  /** Looks at the store, unless somebody is looking already, and reports what is wrong. Resolves in a second at most. */
  look(): Promise<void> {
    if (this.#look) return this.#look;
    const beganAt = performance.now();
    let isLate = false;
    const looked = this.#findOut().then(({ found, error }) => {
      this.#look = null;
      // A store that fails after a long silence has not been heard.
      if (!isLate || found === null) this.#becomes(found, error);
    });
    const told = within(looked, Math.min(SILENT_MS, this.#env.storeMs)).then((isOver) => {
      if (isOver) return;
      isLate = true;
      this.#silentSince = beganAt;
      const silent = new StoreError('UNKNOWN', `The store has not answered for ${SILENT_MS} ms`);
      this.#becomes(this.#env.state.open ? 'store-silent' : 'store-closed', silent);
    });
    this.#look = told;
    return told;
  }

  async #findOut(): Promise<{ readonly found: StoreReason | null; readonly error?: unknown }> {
    const { ready, store } = this.#env;
    try {
      await ready();
    } catch {
      return { found: 'store-closed' };
    }
    try {
      await store.check?.();
      return { found: null };
    } catch (error) {
      const isFull = error instanceof StoreError && error.isFull;
      return { found: isFull ? 'store-full' : 'store-unwritable', error };
    }
  }

  #becomes(found: StoreReason | null, error: unknown): void {
    const before = this.#found;
    this.#found = found;
    // Report it once: load balancers ask all the time. A store that cannot be opened is reported by its opening.
    if (found === before || found === null || found === 'store-closed') return;
    this.#env.report(
      error,
      found === 'store-silent' ? 'the store does not answer' : 'the store cannot be written',
    );
  }
}

/** An answer that no work is taken. */
interface NotReady {
  readonly why: UnreadyReason;
  readonly error: GatewayError;
}

function leaving(why: UnreadyReason, message: string): NotReady {
  return { why, error: new GatewayError({ code: 'SHUTTING_DOWN', message, details: { reason: why } }) };
}

function unready(why: UnreadyReason, message: string): NotReady {
  const details = { reason: why };
  return { why, error: new GatewayError({ code: 'OVERLOADED', message, details, retryAfterMs: 1000 }) };
}
