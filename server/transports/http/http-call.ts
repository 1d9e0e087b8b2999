import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../../auth/types.js';
import { newConnectionId, newTraceId } from '../../ids.js';
import type { Caller } from '../../operations/caller.js';

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** The caller of one HTTP request. What few operations look at is made when they do. */
export class HttpCall implements Caller {
  readonly transport = 'http';
  readonly identity: Identity;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #clientId: string | undefined;
  #traceId: string | undefined;
  #controller: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, identity: Identity) {
    this.#request = request;
    this.#response = response;
    this.identity = identity;
  }

  get clientId(): string {
    this.#clientId ??= newConnectionId();
    return this.#clientId;
  }

  get traceId(): string {
    const { traceparent } = this.#request.headers;
    this.#traceId ??=
      (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined) ?? newTraceId();
    return this.#traceId;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      const response = this.#response;
      if (response.closed) controller.abort();
      else response.once('close', () => controller.abort());
    }
    return this.#controller.signal;
  }
}

/** The path of a request below the gateway's mount, and its query. */
export interface Target {
  readonly path: string;
  readonly query: string;
}

/** Splits a request's URL; null when it is outside `basePath`. */
export function targetOf(request: IncomingMessage, basePath: string): Target | null {
  const url = request.url ?? '/';
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = at < 0 ? '' : url.slice(at + 1);
  if (basePath === '') return { path, query };
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === '' || rest.startsWith('/') ? { path: rest || '/', query } : null;
}
