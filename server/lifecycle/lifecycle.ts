import { EventEmitter } from 'node:events';
import type { UserContext } from '../../shared/contract.js';
import type { AuditEntry } from '../diagnostics/audit-entry.js';
import { contextOutsideCalls } from '../methods/context.js';

interface ClientNotice {
  /** Equal to `connectionId`. */
  readonly clientId: string;
  readonly connectionId: string;
  readonly transport: string;
  readonly user?: UserContext;
}

/** The events of `gateway.on`, by name. */
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
  /** Credentials were shown and refused. `reason` contains no part of them. */
  'caller:refused': { readonly code: string; readonly reason: string; readonly address: string };
  /** Everything that a caller had open was ended, because its token, access or roles were withdrawn. */
  'caller:withdrawn': { readonly user: UserContext; readonly reason: string };
  /** An address failed too often, or has too many requests under way, and its requests are refused unread. */
  'address:blocked': { readonly address: string; readonly reason: string };
  /** A request came from a page of another site, or for a host name that is not the gateway's. `message` names the option that would allow it. */
  'origin:refused': { readonly origin?: string | undefined; readonly host: string; readonly message: string };
  /** An act that is not an ordinary message was done or refused. */
  audit: AuditEntry;
  custom: { readonly sessionId?: string; readonly name: string; readonly payload: unknown };
  started: { readonly url?: string };
  stopped: Readonly<Record<never, never>>;
  error: { readonly error: unknown; readonly message: string };
}

/** The name of an event of `gateway.on`. */
export type LifecycleEvent = keyof LifecycleEvents;
export type LifecycleListener<E extends LifecycleEvent> = (payload: LifecycleEvents[E]) => void;

/** Emits lifecycle events to a gateway's listeners. An error in a listener has no effect on others. */
export class Lifecycle {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #failed: (error: unknown, what: string) => void;

  constructor(failed: (error: unknown, what: string) => void) {
    this.#failed = failed;
  }

  /** Adds a listener. Call the returned function to remove it. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void {
    // Events are emitted inside a caller's async context. Run each listener in the context where it was registered.
    const context = contextOutsideCalls();
    const safe = (payload: LifecycleEvents[E]): void => {
      try {
        // A rejection of an async listener is caught like a thrown error.
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
    // EventEmitter throws for an `error` event without listeners.
    if (this.#emitter.listenerCount(event) > 0) this.#emitter.emit(event, payload);
  }
}
