import type { Link, LinkEnd, LinkHandlers, SubscriptionChange } from '../../../shared/client-transport.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { SubscribeTarget } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import type { EventConnection, Sink } from '../../delivery/connection.js';
import type { Connections } from '../../delivery/connections.js';
import { type EndReason, retryAfter } from '../../delivery/end-reason.js';
import { objectForm } from '../../delivery/wire-form.js';
import type { Report } from '../../diagnostics/log-facts.js';
import { newRequestId, newTraceId } from '../../ids.js';
import { contextOutsideCalls } from '../../methods/context.js';
import type { Operations } from '../../operations/operations.js';
import { publicError } from '../public-error.js';

/** One event connection of a client in this process. The client receives events in a microtask of its own, never inside gateway code. */
export class InProcessLink implements Link, Sink {
  readonly #env: InProcessEnvironment;
  readonly #person: Person;
  readonly #handlers: LinkHandlers;
  #connection: EventConnection | null = null;
  #events: GatewayEvent[] = [];
  #end: LinkEnd | null = null;
  #scheduled = false;
  #closed = false;
  /** The client's own async context, so that its event handlers do not run as the caller that caused the event. */
  readonly #context = contextOutsideCalls();

  constructor(
    env: InProcessEnvironment,
    person: Person,
    call: { readonly targets: readonly SubscribeTarget[]; readonly handlers: LinkHandlers },
  ) {
    this.#env = env;
    this.#person = person;
    this.#handlers = call.handlers;
    this.#open(call.targets).catch((error: unknown) => {
      this.#connection?.gone('failed');
      this.#finish({ error: publicError(error, env.report) });
    });
  }

  async subscribe(change: SubscriptionChange): Promise<void> {
    const connectionId = this.#connection?.id ?? '';
    const caller = {
      person: this.#person,
      transport: 'in-process',
      clientId: connectionId,
      connectionId,
      traceId: newTraceId(),
      requestId: newRequestId(),
      signal: new AbortController().signal,
    };
    try {
      await this.#env.operations.execute('subscribe', { ...change, connectionId }, caller);
    } catch (error) {
      throw publicError(error, this.#env.report);
    }
  }

  close(): void {
    this.#events = [];
    this.#connection?.gone();
    this.#finish({});
  }

  write(payload: unknown): boolean {
    this.#events.push(...(payload as readonly GatewayEvent[]));
    this.#schedule();
    return true;
  }

  sent(): number {
    return 0;
  }

  /** Always 0: a client in this process is given objects, which have no bytes. */
  unread(): number {
    return 0;
  }

  end(reason: EndReason): void {
    this.#finish({ retryMs: retryAfter(reason) });
  }

  async #open(targets: readonly SubscribeTarget[]): Promise<void> {
    await this.#env.ready();
    if (this.#end) return;
    this.#connection = this.#env.connections.add({
      id: this.#env.connections.newId(),
      transport: 'in-process',
      person: this.#person,
      form: objectForm,
      sink: this,
      heartbeatMs: this.#env.config.limits.heartbeatMs,
      slowClientMs: Number.POSITIVE_INFINITY,
      client: true,
    });
    await this.#env.operations.open(this.#connection, targets);
  }

  #finish(end: LinkEnd): void {
    this.#end ??= end;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#context(() => this.#deliver());
    });
  }

  #deliver(): void {
    const events = this.#events;
    this.#events = [];
    for (const event of events) this.#guarded(() => this.#handlers.onEvent(event));
    if (!this.#end || this.#closed) return;
    this.#closed = true;
    const end = this.#end;
    this.#guarded(() => this.#handlers.onClose(end));
  }

  /** Reports an error that a client's handler throws, instead of failing the gateway. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#env.report(error, 'a client of this process failed');
    }
  }
}

/** The parts of the gateway that the in-process door uses. */
export interface InProcessEnvironment {
  readonly operations: Operations;
  readonly connections: Connections;
  readonly config: { readonly limits: { readonly heartbeatMs: number; readonly jsonDepth: number } };
  ready(): Promise<void> | null;
  report: Report;
}
