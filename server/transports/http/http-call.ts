import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ParentSpan } from '../../../shared/method.js';
import type { Person } from '../../auth/types.js';
import type { LogFacts } from '../../diagnostics/log-facts.js';
import { parseTraceparent } from '../../diagnostics/traceparent.js';
import { newClientId, newTraceId } from '../../ids.js';
import { type CallTarget, callFacts } from '../../operations/call-facts.js';
import type { Caller } from '../../operations/caller.js';
import { requestIdOf } from '../request-id.js';

/** The identity and address of a request's caller. */
export interface CalledBy {
  readonly person: Person;
  readonly address: string;
  /** Facts about the call, for the operator's log. */
  facts?(): LogFacts;
}

/** The caller of one HTTP request. Fields that few operations need are made on first use. */
export class HttpCall implements Caller {
  readonly transport = 'http';
  readonly person: Person;
  /** The client's address. */
  readonly address: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #operation: string | undefined;
  #params: unknown;
  #clientId: string | undefined;
  #traceId: string | undefined;
  #parentSpan: ParentSpan | null | undefined;
  #controller: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, by: CalledBy) {
    this.person = by.person;
    this.address = by.address;
    this.#request = request;
    this.#response = response;
  }

  /** Notes the requested operation, for the operator's log. */
  asks(operation: string, params: unknown): void {
    this.#operation = operation;
    this.#params = params;
  }

  facts(): LogFacts {
    const { sessionId, method } = (this.#params ?? {}) as CallTarget;
    return callFacts(this, { operation: this.#operation, sessionId, method });
  }

  get requestId(): string {
    return requestIdOf(this.#response);
  }

  get clientId(): string {
    this.#clientId ??= newClientId();
    return this.#clientId;
  }

  get traceId(): string {
    this.#traceId ??= this.parentSpan?.traceId ?? newTraceId();
    return this.#traceId;
  }

  get parentSpan(): ParentSpan | undefined {
    if (this.#parentSpan === undefined) {
      const { traceparent } = this.#request.headers;
      this.#parentSpan = typeof traceparent === 'string' ? parseTraceparent(traceparent) : null;
    }
    return this.#parentSpan ?? undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const response = this.#response;
      if (response.closed) controller.abort();
      else response.on('close', () => controller.abort());
    }
    return this.#controller.signal;
  }
}
