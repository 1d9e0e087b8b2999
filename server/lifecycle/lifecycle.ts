import { EventEmitter } from 'node:events';
import type { UserContext } from '../../shared/contract.js';
import { contextOutsideCalls } from '../methods/context.js';

interface ClientNotice {
  /** The same as `connectionId`. */
  readonly clientId: string;
  readonly connectionId: string;
  readonly transport: string;
  readonly user?: UserContext;
}

/** What `gateway.on` tells, by event. */
export interface LifecycleEvents {
  'session:created': {
    readonly sessionId: string;
    readonly app: string;
    readonly user?: { readonly id: string };
  };
  'session:closed': { readonly sessionId: string; readonly app: string };
  'client:connected': ClientNotice;
  'client:disconnected': ClientNotice;
  'run:started': { readonly sessionId: string; readonly runId: string; readonly user: UserContext | null };
  'run:ended': { readonly sessionId: string; readonly runId: string; readonly stopReason: string };
  /** Credentials were shown and refused; `reason` holds no part of them. */
  'caller:refused': { readonly code: string; readonly reason: string; readonly address: string };
  /** What a caller had open was ended: its token, access or roles were withdrawn. */
  'caller:withdrawn': { readonly user: UserContext; readonly reason: string };
  /** An address failed too often, or has too much under way, and is refused unheard. */
  'address:blocked': { readonly address: string; readonly reason: string };
  /** A page of another site, or a host name that is not the gateway's; `message` names the option that would allow it. */
  'origin:refused': { readonly origin?: string | undefined; readonly host: string; readonly message: string };
  custom: { readonly sessionId?: string; readonly name: string; readonly payload: unknown };
  started: { readonly url?: string };
  stopped: Readonly<Record<never, never>>;
  error: { readonly error: unknown; readonly message: string };
}

/** What `gateway.on` listens to. */
export type LifecycleEvent = keyof LifecycleEvents;
export type LifecycleListener<E extends LifecycleEvent> = (payload: LifecycleEvents[E]) => void;

/** Tells a gateway's listeners what happens. A listener that throws harms nothing. */
export class Lifecycle {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #failed: (error: unknown, what: string) => void;

  constructor(failed: (error: unknown, what: string) => void) {
    this.#failed = failed;
  }

  /** Listens; call what it returns to stop. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void {
    // What happens, happens in somebody's call as a rule; a listener hears it as the one who listens.
    const context = contextOutsideCalls();
    const safe = (payload: LifecycleEvents[E]): void => {
      try {
        // An async listener's rejection is as harmless as a throw.
        Promise.resolve(context(() => listener(payload))).catch((error: unknown) =>
          this.#failed(error, `a listener of ${event} failed`),
        );
      } catch (error) {
        this.#failed(error, `a listener of ${event} failed`);
      }
    };
    this.#emitter.on(event, safe);
    return () => this.#emitter.off(event, safe);
  }

  emit<E extends LifecycleEvent>(event: E, payload: LifecycleEvents[E]): void {
    // EventEmitter throws for an `error` that nobody listens to.
    if (this.#emitter.listenerCount(event) > 0) this.#emitter.emit(event, payload);
  }
}
