import type { Identity } from '../../auth/types.js';
import { newTraceId } from '../../ids.js';
import type { Caller } from '../../operations/caller.js';

/** The caller of one request over a socket. What few operations look at is made when they do. */
export class FrameCall implements Caller {
  readonly identity: Identity;
  readonly transport: string;
  readonly clientId: string;
  readonly connectionId: string;
  /** Whether a `cancel` or the caller's departure ends it: a method does, everything else has its effect. */
  readonly cancellable: boolean;
  #traceId: string | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(
    connection: {
      readonly id: string;
      readonly identity: Identity;
      readonly options: { readonly transport: string };
    },
    cancellable: boolean,
  ) {
    this.identity = connection.identity;
    this.transport = connection.options.transport;
    this.clientId = connection.id;
    this.connectionId = connection.id;
    this.cancellable = cancellable;
  }

  get traceId(): string {
    this.#traceId ??= newTraceId();
    return this.#traceId;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
