import type { SendInput } from '../../shared/messages.js';
import type { From, ResultOf, SendParams } from '../../shared/operation-types.js';
import type { App } from '../apps/define-app.js';
import type { UserLike } from '../auth/types.js';
import type { Gateway } from '../gateway/gateway.js';
import type { ExecuteOptions } from '../host/execute-options.js';
import type { ServedOperation } from '../transports/request.js';
import { type Exchange, exchangeOf, type HostResponse, takeOver } from './exchange.js';
import { appOf } from './injected-app.js';
import type { GatewayHostOptions } from './options.js';

/** The user to act as. Without it, the user of the request, by the module's `user` option or the gateway's own authentication. */
export interface AsUser {
  readonly user?: UserLike | undefined;
}

/** The user to act as without a response at hand: a named one, or the sender of the request that a response answers. */
export interface ActAs extends AsUser {
  readonly response?: HostResponse | undefined;
}

/** The sessions of a new connection. Without `sessionIds`, the request's query names them. */
export interface ConnectionOptions extends AsUser {
  readonly sessionIds?: readonly string[] | undefined;
  /** @default 'now' */
  readonly from?: From | undefined;
  readonly lastEventId?: string | undefined;
}

/** Options of a message. */
export type StreamOptions = AsUser & Omit<SendParams, 'sessionId' | 'onlyAs' | 'message' | 'messages'>;

/**
 * The gateway's operations for the host's own controllers. Methods that take a response answer it, also with errors. The others reject with
 * a `GatewayError`, which the module's filter answers in the gateway's form.
 */
export class GatewayService {
  readonly gateway: Gateway<any, any, any>;
  readonly #user: GatewayHostOptions['user'];

  constructor(gateway: Gateway<any, any, any>, { user }: GatewayHostOptions = {}) {
    this.gateway = gateway;
    this.#user = user;
  }

  /** Opens a stream of events on the response. */
  createConnection(response: HostResponse, options: ConnectionOptions = {}): void {
    const { user, sessionIds, from, lastEventId } = options;
    const params = sessionIds && { sessionId: sessionIds, from, lastEventId };
    this.serve('events', response, { user, params });
  }

  /** Adds sessions to a connection. */
  subscribe(connectionId: string, sessionIds: readonly string[], as?: ActAs): Promise<ResultOf<'subscribe'>> {
    return this.gateway.execute('subscribe', { connectionId, add: sessionIds }, this.#actor(as));
  }

  /** Removes sessions from a connection. */
  unsubscribe(
    connectionId: string,
    sessionIds: readonly string[],
    as?: ActAs,
  ): Promise<ResultOf<'subscribe'>> {
    return this.gateway.execute('subscribe', { connectionId, remove: sessionIds }, this.#actor(as));
  }

  /** Sends a message and answers the response as `POST /send` would: with the run's events, or in the form that the request prefers. */
  sendAndStream(
    sessionId: string,
    input: SendInput,
    response: HostResponse,
    { user, ...options }: StreamOptions = {},
  ): void {
    this.serve('send', response, { user, params: { ...options, sessionId, message: input } });
  }

  /** Aborts the active run of a session. */
  abort(sessionId: string, reason?: string, as?: ActAs): Promise<ResultOf<'abort'>> {
    return this.gateway.execute('abort', { sessionId, reason }, this.#actor(as));
  }

  /** Ends a conversation. */
  close(sessionId: string, as?: ActAs): Promise<ResultOf<'close'>> {
    return this.gateway.execute('close', { sessionId }, this.#actor(as));
  }

  async publishToChannel(
    sessionId: string,
    channel: string,
    type: string,
    payload: unknown,
    as?: ActAs,
  ): Promise<void> {
    await this.gateway.execute('channel', { sessionId, channel, type, payload }, this.#actor(as));
  }

  /** An app, the default one if unnamed. Its `session(id, { user })` opens a session. @throws GatewayError `APP_NOT_FOUND` */
  getApp(name?: string): App {
    return appOf(this.gateway, name);
  }

  /** Serves any operation on the response, as its own route would. With `params`, the request's query, body and method are ignored. */
  serve(
    operation: ServedOperation,
    response: HostResponse,
    options: AsUser & { readonly params?: Readonly<Record<string, unknown>> | undefined } = {},
  ): void {
    const exchange = takeOver(response);
    const { request, response: raw, body } = exchange;
    const user = options.user ?? this.#userOf(exchange);
    this.gateway.handleOperation(operation, request, raw, { body, user, params: options.params });
  }

  /** Serves the gateway's route, plugins included, that the request's path names below `basePath`. */
  handle(response: HostResponse, options: AsUser & { readonly basePath?: string | undefined } = {}): void {
    const exchange = takeOver(response);
    const { request, response: raw, body } = exchange;
    const user = options.user ?? this.#userOf(exchange);
    this.gateway.handleRequest(request, raw, { body, user, basePath: options.basePath });
  }

  /** Null if the host looked for a user and found none. */
  #userOf({ hostRequest }: Exchange): UserLike | null | undefined {
    return this.#user && (this.#user(hostRequest) ?? null);
  }

  #actor({ user, response }: ActAs = {}): ExecuteOptions {
    if (user || !response) return user ? { user } : {};
    const exchange = exchangeOf(response);
    const named = this.#userOf(exchange);
    return named ? { user: named } : { by: { ...exchange, user: named } };
  }
}
