import type { ContextChannels, MethodContext, ParentSpan } from '../../shared/method.js';

/**
 * The context of one call: the caller's, with a signal of its own that also ends with the call's time. Most handlers never look
 * at the signal, so it is made when it is first read.
 */
export class CallContext implements MethodContext {
  readonly user: MethodContext['user'];
  readonly metadata: MethodContext['metadata'];
  readonly traceId: string;
  declare readonly parentSpan?: ParentSpan;
  declare readonly lastEventId?: string;
  declare readonly channels?: ContextChannels;
  readonly emit: MethodContext['emit'];
  readonly #caller: MethodContext;
  #controller: AbortController | undefined;
  #abortion: { readonly reason: unknown } | undefined;
  #unlink: (() => void) | undefined;
  #released = false;

  constructor(caller: MethodContext) {
    this.#caller = caller;
    this.user = caller.user;
    this.metadata = caller.metadata;
    this.traceId = caller.traceId;
    if (caller.parentSpan) this.parentSpan = caller.parentSpan;
    if (caller.lastEventId !== undefined) this.lastEventId = caller.lastEventId;
    if (caller.channels) this.channels = caller.channels;
    this.emit = (name, payload) => caller.emit(name, payload);
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.#abortion) this.#controller.abort(this.#abortion.reason);
    else if (!this.#released) this.#link(this.#caller.signal);
    return this.#controller.signal;
  }

  /** Aborts the call's signal, not the caller's. */
  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }

  /** Ends the call: from now on the caller's signal, which may outlive many calls, no longer holds this one. */
  release(): void {
    this.#released = true;
    this.#unlink?.();
    this.#unlink = undefined;
  }

  #link(outer: AbortSignal): void {
    if (outer.aborted) {
      this.abort(outer.reason);
      return;
    }
    const forward = () => this.abort(outer.reason);
    outer.addEventListener('abort', forward, { once: true });
    this.#unlink = () => outer.removeEventListener('abort', forward);
  }
}
