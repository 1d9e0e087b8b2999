import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../../shared/errors.js';
import { beginsRun } from '../../../shared/operations.js';
import { isPromise, type MaybePromise } from '../../async/maybe-promise.js';
import { bearerToken } from '../../auth/credentials.js';
import type { Person } from '../../auth/types.js';
import type { ExecuteOptions } from '../../host/execute-options.js';
import type { Invocation } from '../../operations/invoke.js';
import { identify, redeem } from '../identify.js';
import { isBareNotFound, routeNotFound } from '../not-found.js';
import { checkOrigin, checkStreamRequest } from '../origin.js';
import {
  authRequest,
  type HandleOptions,
  type OperationOptions,
  type RequestTarget,
  type ServedOperation,
  targetOf,
} from '../request.js';
import { nameAnswer, takeName } from '../request-id.js';
import { Responder, sendError, sendJson } from './answer.js';
import { boundsOf, readBody } from './body.js';
import { allowOrigin, answerPreflight, isPreflight, originAllowedByHost } from './cors.js';
import { openEvents, queryOf, readEventsRequest, readLastEventId } from './events-route.js';
import { exportLines } from './export-route.js';
import { FILE_ANSWER_HEADERS, FILE_REQUEST_HEADERS, fileRoute, uploadRoute } from './files-route.js';
import { type CalledBy, HttpCall } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { invokeOptions, invokeParams } from './invoke-route.js';
import { streamItems } from './method-stream.js';
import { hearOfEnd, levelHttp2, readOn } from './node-http.js';
import type { PluginRoute } from './plugin-route.js';
import { type Destination, type FoundRoute, findRoute, type Route, routeOf, routeTable } from './routes.js';
import { startRun } from './run-route.js';
import { readerKey } from './unread.js';

/** Time that a plugin's response may go on after its caller lost access, in milliseconds. */
const CUT_AFTER_MS = 1000;

/**
 * A request with its route. Objects that live as long as a request are classes: V8 allocates the objects of a literal in its old generation
 * once it finds that many of them survive, and each then keeps its whole request until the next full collection.
 */
class HttpExchange {
  readonly target: RequestTarget;
  readonly route: FoundRoute;
  readonly options: OperationOptions;

  constructor(target: RequestTarget, route: FoundRoute, options: OperationOptions) {
    this.target = target;
    this.route = route;
    this.options = options;
  }
}

interface EventsAsked extends Pick<HttpExchange, 'options'> {
  readonly query: string;
  readonly address: string;
}

/** Serves HTTP requests: standalone, embedded and behind every adapter alike. */
export class HttpHandler {
  readonly #env: HttpEnvironment;
  readonly #answers: Responder;
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(env: HttpEnvironment) {
    this.#env = env;
    this.#answers = new Responder(env);
    this.#routes = routeTable(env.extraRoutes);
  }

  /** Serves a request. Returns false, without touching the request, if its path is not the gateway's. */
  handle(request: IncomingMessage, response: ServerResponse, options: HandleOptions = {}): boolean {
    const target = targetOf(request, options.basePath ?? '');
    if (!target) return false;
    const route = findRoute(this.#routes, target.path);
    const plugin = route ? undefined : this.#env.plugins.find(target.path);
    if (plugin) {
      this.#answers.await(response, this.#plugin(request, response, { target, plugin, options }), { plugin });
      return true;
    }
    if (!route) return false;
    // Do not pass `options` on as a whole: a `params` that the host leaves in it belongs to its framework.
    const { user, body } = options;
    this.#serve(request, response, new HttpExchange(target, route, { user, body }));
    return true;
  }

  /** Serves one operation, for any path of the request. */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    { name, options }: { readonly name: ServedOperation; readonly options: OperationOptions },
  ): void {
    const target = targetOf(request, '')!;
    this.#serve(request, response, new HttpExchange(target, routeOf(name), options));
  }

  /**
   * Finds the identity of a request's caller, with the same checks as on a route.
   *
   * @throws GatewayError `ORIGIN_DENIED`, `UNAUTHENTICATED`, `RATE_LIMITED`
   */
  async identify({ request, response, user }: NonNullable<ExecuteOptions['by']>): Promise<Person> {
    levelHttp2(request, response);
    checkOrigin(request, this.#env.origin, originAllowedByHost(request, response));
    return this.#identify(request, this.#env.addressOf(request), { user });
  }

  /** Answers a request without a route. */
  notFound(request: IncomingMessage, response: ServerResponse, options: HandleOptions = {}): void {
    sendError(response, this.#unknown(request, options));
  }

  #unknown(request: IncomingMessage, { basePath = '' }: HandleOptions): GatewayError {
    return routeNotFound(request, basePath, (path) => findRoute(this.#routes, path) !== undefined);
  }

  async #plugin(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly target: RequestTarget; readonly plugin: PluginRoute; readonly options: HandleOptions },
  ): Promise<undefined> {
    const { handle, options } = call.plugin;
    levelHttp2(request, response);
    hearOfEnd(response);
    nameAnswer(response);
    const address = this.#env.addressOf(request);
    this.#env.gate.enter(address, response);
    const origin = checkOrigin(request, this.#env.origin, originAllowedByHost(request, response));
    allowOrigin(response, origin, options.exposedHeaders);
    if (options.methods) {
      if (isPreflight(request))
        return void answerPreflight(response, options.methods, options.requestHeaders);
      checkMethod(request, response, options.methods);
    }
    if (options.needsStore !== false) await this.#env.ready();
    const serve = () =>
      handle({
        request,
        response,
        path: call.target.path,
        address,
        authenticate: async () => {
          const person = await this.#identify(request, address, call.options);
          this.#attend(person, response);
          return person;
        },
        body: () =>
          new Promise((take, fail) => {
            // Other protocols send the whole conversation with each message.
            readBody(request, boundsOf(this.#env.limits, 'import'), call.options.body, take, fail);
          }).catch((error: unknown) => {
            readOn(response, this.#env.ticker);
            throw error;
          }),
      });
    try {
      if (this.#env.state.draining) await serve();
      else await this.#env.calls.serve(() => response.headersSent || response.destroyed, serve);
    } catch (error) {
      // A route that hides itself must not differ from one that is not there.
      throw isBareNotFound(error) ? this.#unknown(request, call.options) : error;
    }
  }

  /**
   * Serves a route: identifies the caller, reads the body, performs the operation. Each step goes on at once if it has nothing to wait for,
   * so that a call costs the promises of its method and no others. Never throws.
   */
  #serve(request: IncomingMessage, response: ServerResponse, asked: HttpExchange): void {
    try {
      const address = this.#env.addressOf(request);
      if (this.#enter(request, response, address, asked)) return this.#answers.over(response);
      if (asked.route.to === 'readyz') return this.#answers.await(response, this.#tellReady(response));
      const opening = this.#env.ready();
      if (!opening) return this.#admit(request, response, address, asked);
      opening
        .then(() => this.#admit(request, response, address, asked))
        .catch((error: unknown) => this.#answers.fail(response, error));
    } catch (error) {
      this.#answers.fail(response, error);
    }
  }

  /** Checks a request before anything else. Returns true if that has answered it already. */
  #enter(
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
    { route, options }: HttpExchange,
  ): boolean {
    const { gate, origin: policy } = this.#env;
    levelHttp2(request, response);
    hearOfEnd(response);
    takeName(response);
    gate.enter(address, response);
    const origin = checkOrigin(request, policy, originAllowedByHost(request, response));
    const isFile = route.to === 'file';
    allowOrigin(response, origin, isFile ? FILE_ANSWER_HEADERS : undefined);
    if (isPreflight(request))
      answerPreflight(response, [route.http], isFile ? FILE_REQUEST_HEADERS : undefined);
    // Health checks use HEAD (RFC 9110, section 9.1), which Node answers without the body; a stream cannot be answered so.
    else if (!options.params) {
      const head = route.http === 'GET' && route.to !== 'events' && route.to !== 'export';
      if (request.method !== route.http)
        checkMethod(request, response, head ? ['GET', 'HEAD'] : [route.http]);
    }
    if (response.writableEnded) return true;
    if (route.to !== 'healthz') return false;
    sendJson(response, 200, { ok: true });
    return true;
  }

  async #tellReady(response: ServerResponse): Promise<void> {
    await this.#env.readiness.check();
    sendJson(response, 200, { ok: true });
  }

  #admit(request: IncomingMessage, response: ServerResponse, address: string, asked: HttpExchange): void {
    const { options, target } = asked;
    if (asked.route.to === 'events') {
      const serving = this.#events(request, response, { query: target.query, options, address });
      return this.#answers.await(response, serving);
    }
    const person = this.#identify(request, address, options);
    if (!isPromise(person)) return this.#perform(request, response, asked, { person, address });
    person
      .then((known) => this.#perform(request, response, asked, { person: known, address }))
      .catch((error: unknown) => this.#answers.fail(response, error));
  }

  #perform(request: IncomingMessage, response: ServerResponse, asked: HttpExchange, by: CalledBy): void {
    const { unread, operations, limits } = this.#env;
    const { route, options, target } = asked;
    if (unread.bytes > 0) unread.admit(readerKey(by.person, by.address));
    const caller = new HttpCall(request, response, by);
    caller.asks(route.to, undefined);
    if (route.to === 'upload') {
      const { query } = target;
      const taken = uploadRoute(this.#env, request, response, { caller, query, parsed: options.body });
      return this.#answers.await(response, taken, { by: caller });
    }
    if (route.to === 'file') {
      const sent = fileRoute(this.#env, request, response, {
        caller,
        fileId: route.fileId ?? '',
        query: target.query,
      });
      return this.#answers.await(response, sent, { by: caller });
    }
    if (route.http === 'GET') {
      const params = options.params ?? Object.fromEntries(new URLSearchParams(target.query));
      caller.asks(route.to, params);
      if (route.to === 'export')
        return this.#answers.await(response, exportLines(this.#env, response, { params, caller }), {
          by: caller,
        });
      return this.#answers.json(response, caller, operations.execute(route.to as 'history', params, caller));
    }
    const post = (body: unknown): void => this.#post(request, response, caller, route.to, body);
    if (options.params) return post(options.params);
    const fail = (error: unknown): void => this.#answers.fail(response, error, { by: caller });
    readBody(request, boundsOf(limits, route.to), options.body, post, fail);
  }

  #post(
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCall,
    to: Destination,
    body: unknown,
  ): void {
    const { operations } = this.#env;
    caller.asks(to, body);
    if (beginsRun(to)) {
      const run = startRun(this.#env, to, { request, response }, { body, caller });
      return this.#answers.await(response, run, { by: caller });
    }
    if (to !== 'invoke') {
      return this.#answers.json(response, caller, operations.execute(to as 'abort', body, caller));
    }
    const { headers } = request;
    const outcome = operations.invoke(invokeParams(body, headers), caller, invokeOptions(headers));
    if (!isPromise(outcome)) return this.#invoked(response, caller, outcome);
    outcome
      .then((late) => this.#invoked(response, caller, late))
      .catch((error: unknown) => this.#answers.fail(response, error, { by: caller }));
  }

  /** Answers with the result of a method as a JSON body, or with a stream of its items. */
  #invoked(response: ServerResponse, caller: HttpCall, outcome: Invocation): void {
    if (outcome.kind === 'value') return this.#answers.json(response, caller, outcome.value);
    const { stream } = outcome;
    const items = streamItems(this.#env, response, { stream, caller });
    this.#answers.await(response, items, { by: caller });
  }

  async #events(
    request: IncomingMessage,
    response: ServerResponse,
    { query, options, address }: EventsAsked,
  ): Promise<void> {
    const asked = new URLSearchParams(query);
    const params = options.params ? queryOf(options.params) : asked;
    const token = bearerToken(request.headers) ?? asked.get('token') ?? undefined;
    const lastEventId = readLastEventId(request, params);
    if (!originAllowedByHost(request, response)) checkStreamRequest(request.headers, this.#env.origin);
    const credential = { token, user: options.user };
    const redeemed = await redeem(this.#env, credential, { resuming: lastEventId !== undefined });
    const person = redeemed?.person ?? (await identify(this.#env, authRequest(request, address), credential));
    const events = readEventsRequest(params, lastEventId);
    await openEvents(this.#env, request, response, { person, events, ticket: redeemed?.ticket ?? null });
  }

  /** Cuts a plugin's response that is still under way when its caller loses access. */
  #attend(person: Person, response: ServerResponse): void {
    let present = person;
    const leave = this.#env.presence.add({
      get person() {
        return present;
      },
      renew: (renewed) => {
        present = renewed;
      },
      // The plugin's subscriptions end at the same time, which lets it first end the response in its own form.
      end: () => void setTimeout(() => response.destroy(), CUT_AFTER_MS).unref(),
    });
    if (response.closed) leave();
    else response.once('close', leave);
  }

  #identify(
    request: IncomingMessage,
    address: string,
    { user }: Pick<HandleOptions, 'user'>,
  ): MaybePromise<Person> {
    const token = bearerToken(request.headers);
    return identify(this.#env, authRequest(request, address), { token, user });
  }
}

/** @throws GatewayError `METHOD_NOT_ALLOWED`, with the header that RFC 9110, section 15.5.6, requires */
function checkMethod(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): void {
  if (allowed.includes(request.method ?? '')) return;
  response.setHeader('Allow', allowed.join(', '));
  throw new GatewayError({ code: 'METHOD_NOT_ALLOWED' });
}
