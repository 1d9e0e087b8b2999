import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { isPromise, type MaybePromise } from '../../async/maybe-promise.js';
import { bearerToken } from '../../auth/credentials.js';
import { unnamed } from '../../auth/refusal.js';
import { isTicket, type ShownTicket } from '../../auth/tickets.js';
import type { Identity } from '../../auth/types.js';
import type { ExecuteOptions } from '../../host/execute-options.js';
import { checkCookieRequest, checkOrigin, checkStreamRequest } from '../origin.js';
import { publicError } from '../public-error.js';
import {
  authRequest,
  type HandleOptions,
  type OperationOptions,
  type ServedOperation,
  type Target,
  targetOf,
} from '../request.js';
import { sendError, sendFallback, sendJson } from './answer.js';
import { readBody } from './body.js';
import { allowOrigin, answerPreflight, isPreflight, originAllowedByHost } from './cors.js';
import { openEvents, queryOf, readEventsRequest, readLastEventId } from './events-route.js';
import { FILE_ANSWER_HEADERS, FILE_REQUEST_HEADERS, fileRoute, uploadRoute } from './files-route.js';
import { HttpCall } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { endConnection, levelHttp2 } from './http2.js';
import { invokeRoute } from './invoke-route.js';
import type { PluginRoute } from './plugin-route.js';
import { type Destination, type FoundRoute, findRoute, type Route, routeOf, routeTable } from './routes.js';
import { sendMessage } from './send-route.js';
import { readerKey } from './unread.js';

/** How long a plugin's answer may go on once its caller was withdrawn. */
const CUT_AFTER_MS = 1000;

/** Serves HTTP requests: standalone, embedded and behind every adapter alike. */
export class HttpHandler {
  readonly #env: HttpEnvironment;
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(env: HttpEnvironment) {
    this.#env = env;
    this.#routes = routeTable(env.extraRoutes);
  }

  /** Serves a request; false when its path is not the gateway's, and then nothing of it was touched. */
  handle(request: IncomingMessage, response: ServerResponse, options: HandleOptions = {}): boolean {
    const target = targetOf(request, options.basePath ?? '');
    if (!target) return false;
    const route = findRoute(this.#routes, target.path);
    const plugin = route ? undefined : this.#env.plugins.find(target.path);
    if (plugin) {
      this.#finish(response, this.#plugin(request, response, { target, plugin, options }), plugin);
      return true;
    }
    if (!route) return false;
    // Not the whole of it: `params` in what a host hands over here are its framework's own.
    const { user, body } = options;
    this.#finish(response, this.#serve(request, response, { target, route, options: { user, body } }));
    return true;
  }

  /** Serves one operation, whatever the request's path. */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    { name, options }: { readonly name: ServedOperation; readonly options: OperationOptions },
  ): void {
    const target = targetOf(request, '')!;
    this.#finish(response, this.#serve(request, response, { target, route: routeOf(name), options }));
  }

  /**
   * Who makes a request, by the same checks as on a route.
   *
   * @throws GatewayError `ORIGIN_DENIED`, `UNAUTHENTICATED`, `RATE_LIMITED`
   */
  async identify({ request, response, user }: NonNullable<ExecuteOptions['by']>): Promise<Identity> {
    levelHttp2(request, response);
    checkOrigin(request, this.#env.origin, originAllowedByHost(request, response));
    return this.#identify(request, bearerToken(request.headers), { user });
  }

  /** Answers a request that is nobody's. */
  notFound(response: ServerResponse): void {
    sendError(response, new GatewayError({ code: 'ROUTE_NOT_FOUND' }));
  }

  /** Answers with what went wrong, and has an answer that nobody reads ended. */
  #finish(response: ServerResponse, serving: Promise<string | undefined>, plugin?: PluginRoute): void {
    const { unread } = this.#env;
    serving
      .catch((error: unknown) => {
        this.#fail(response, error, plugin?.options.fail);
        return undefined;
      })
      .then((reader) => unread.watch(response, reader))
      .catch((error: unknown) => this.#env.report(error, 'watching an answer failed'));
  }

  async #plugin(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly target: Target; readonly plugin: PluginRoute; readonly options: HandleOptions },
  ): Promise<undefined> {
    const { handle, options } = call.plugin;
    levelHttp2(request, response);
    this.#env.gate.enter(request, response);
    const origin = checkOrigin(request, this.#env.origin, originAllowedByHost(request, response));
    allowOrigin(response, origin, options.exposedHeaders);
    if (options.methods) {
      if (isPreflight(request))
        return void answerPreflight(response, options.methods, options.requestHeaders);
      checkMethod(request, response, options.methods);
    }
    await this.#env.ready();
    await handle({
      request,
      response,
      path: call.target.path,
      authenticate: async () => {
        const identity = await this.#identify(request, bearerToken(request.headers), call.options);
        this.#attend(identity, response);
        return identity;
      },
      body: () => readBody(request, this.#env.limits, call.options.body),
    });
  }

  /** Serves a route; resolves with whose answer it is, where that is known. */
  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    {
      target,
      route,
      options,
    }: { readonly target: Target; readonly route: FoundRoute; readonly options: OperationOptions },
  ): Promise<string | undefined> {
    const env = this.#env;
    levelHttp2(request, response);
    env.gate.enter(request, response);
    const origin = checkOrigin(request, env.origin, originAllowedByHost(request, response));
    const isFile = route.to === 'file';
    allowOrigin(response, origin, isFile ? FILE_ANSWER_HEADERS : undefined);
    if (isPreflight(request))
      return void answerPreflight(response, [route.http], isFile ? FILE_REQUEST_HEADERS : undefined);
    // Health checks ask with HEAD (RFC 9110, section 9.1), which Node answers without the body; a stream has no such answer.
    const head = route.http === 'GET' && route.to !== 'events';
    if (!options.params) checkMethod(request, response, head ? ['GET', 'HEAD'] : [route.http]);
    if (route.to === 'healthz') return void sendJson(response, 200, { ok: true });
    if (route.to === 'readyz') {
      if (env.state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN' });
      return void sendJson(response, 200, { ok: true });
    }
    const opening = env.ready();
    if (opening) await opening;
    if (route.to === 'events') {
      await this.#events(request, response, { query: target.query, options });
      return undefined;
    }
    const identified = this.#identify(request, bearerToken(request.headers), options);
    const identity = isPromise(identified) ? await identified : identified;
    const reader = readerKey(identity, env.addressOf(request));
    env.unread.admit(reader);
    const caller = new HttpCall(request, response, identity);
    if (route.to === 'upload')
      await uploadRoute(env, request, response, { caller, query: target.query, parsed: options.body });
    else if (route.to === 'file')
      await fileRoute(env, request, response, { caller, fileId: route.fileId ?? '' });
    else if (route.http === 'GET') {
      const params = options.params ?? Object.fromEntries(new URLSearchParams(target.query));
      this.#answer(response, await env.operations.execute(route.to as 'history', params, caller));
    } else {
      const body = options.params ?? (await readBody(request, env.limits, options.body));
      await this.#post(request, response, { to: route.to, body, caller });
    }
    return reader;
  }

  async #post(
    request: IncomingMessage,
    response: ServerResponse,
    { to, body, caller }: { readonly to: Destination; readonly body: unknown; readonly caller: HttpCall },
  ): Promise<void> {
    if (to === 'invoke')
      return invokeRoute(this.#env, response, {
        body,
        caller,
        accept: request.headers.accept,
        lastEventId: request.headers['last-event-id'] as string | undefined,
      });
    if (to === 'send') return sendMessage(this.#env, request, response, { body, caller });
    this.#answer(response, await this.#env.operations.execute(to as 'abort', body, caller));
  }

  #answer(response: ServerResponse, value: unknown): void {
    if (!response.closed) sendJson(response, 200, value);
  }

  async #events(
    request: IncomingMessage,
    response: ServerResponse,
    { query, options }: { readonly query: string; readonly options: OperationOptions },
  ): Promise<void> {
    const asked = new URLSearchParams(query);
    const params = options.params ? queryOf(options.params) : asked;
    const token = bearerToken(request.headers) ?? asked.get('token') ?? undefined;
    const lastEventId = readLastEventId(request, params);
    if (!originAllowedByHost(request, response)) checkStreamRequest(request.headers, this.#env.origin);
    const ticket =
      token !== undefined && isTicket(token) && !options.user
        ? this.#env.tickets.redeem(token, { resuming: lastEventId !== undefined })
        : null;
    const identity = await (ticket ? this.#holder(ticket) : this.#identify(request, token, options));
    const events = readEventsRequest(params, lastEventId);
    await openEvents(this.#env, request, response, { identity, events, ticket });
  }

  /** Whose ticket it is, if what that caller once showed is still good. */
  async #holder(ticket: ShownTicket): Promise<Identity> {
    try {
      const identity = await this.#env.authenticator.revalidate(ticket.identity);
      ticket.renew(identity);
      return identity;
    } catch (error) {
      if (isGatewayError(error) && error.status === 401) ticket.drop();
      throw error;
    }
  }

  /** Cuts an answer that is still under way when its caller is withdrawn: what a plugin streams is its own business until then. */
  #attend(identity: Identity, response: ServerResponse): void {
    let present = identity;
    const leave = this.#env.presence.add({
      get identity() {
        return present;
      },
      renew: (renewed) => {
        present = renewed;
      },
      // What a plugin follows of its caller's sessions has ended too, so it may end its answer in its own form.
      end: () => void setTimeout(() => response.destroy(), CUT_AFTER_MS).unref(),
    });
    if (response.closed) leave();
    else response.once('close', leave);
  }

  #identify(
    request: IncomingMessage,
    token: string | undefined,
    options: Pick<HandleOptions, 'user'>,
  ): MaybePromise<Identity> {
    const { authenticator, cookies, anonymous, addressOf } = this.#env;
    if (options.user) return authenticator.identify(options.user);
    if (options.user === null && anonymous) throw unnamed();
    if (cookies && token === undefined) checkCookieRequest(request.headers);
    return authenticator.authenticate({
      ...(token !== undefined && { token }),
      request: authRequest(request, addressOf(request)),
    });
  }

  /** The last that is done for a request: it answers, or ends the response. Never throws. */
  #fail(response: ServerResponse, error: unknown, answer?: PluginRoute['options']['fail']): void {
    try {
      const shown = publicError(error, this.#env.report);
      // The rest of a body that is too large is not read.
      if (shown.status === 413 && !response.headersSent) endConnection(response);
      if (answer) answer(shown, response);
      else sendError(response, shown);
    } catch (problem) {
      this.#env.report(problem, 'answering with an error failed');
      sendFallback(response);
    }
  }
}

/** @throws GatewayError `METHOD_NOT_ALLOWED`, with the header that RFC 9110, section 15.5.6, wants */
function checkMethod(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): void {
  if (allowed.includes(request.method ?? '')) return;
  response.setHeader('Allow', allowed.join(', '));
  throw new GatewayError({ code: 'METHOD_NOT_ALLOWED' });
}
