import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { ResponseStream } from '../../../shared/responses/stream.js';
import type { ResponseEventFrame } from '../../../shared/responses/types.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { leftBy, sendJson } from '../conversation/answering.js';
import { fieldError } from '../conversation/errors.js';
import { ClientRetries } from '../conversation/retries.js';
import { type RouteRequest, Router } from '../conversation/routing.js';
import { leave } from '../conversation/told-segment.js';
import { notServed } from '../openai/errors.js';
import type { Models } from '../openai/models.js';
import type { PluginContext } from '../plugin.js';
import { type FoundResponseOptions, FoundResponseWriter } from './answers.js';
import { Compactor, readCompactRequest } from './compacting.js';
import { Finder, type FoundResponse, idOf } from './finding.js';
import { itemPage } from './pages.js';
import { isGenerated, isTemporary } from './places.js';
import { readResponseRequest } from './request.js';
import { ResponseCreator, type ResponseCreatorOptions } from './response-creator.js';
import { TemporarySessions } from './temporary.js';

/** Options of the routes of responses. */
export interface ResponseRoutesOptions extends FoundResponseOptions, ResponseCreatorOptions {
  readonly path: string;
  readonly models: Models;
  readonly onLeave: 'continue' | 'abort';
  readonly toolWaitMs: number;
}

/** A request on a socket. */
export interface SocketTurn {
  readonly body: Readonly<Record<string, unknown>>;
  /** The caller's own idempotency key. */
  readonly key: string | undefined;
  /** Writes an event of the response. */
  frame(event: ResponseEventFrame): string;
}

/** The routes of responses. */
export class ResponseRoutes {
  readonly #context: PluginContext;
  readonly #options: ResponseRoutesOptions;
  readonly #finder: Finder;
  readonly #answers: FoundResponseWriter;
  readonly #creating: ResponseCreator;
  readonly #compactor: Compactor;
  readonly #retries: ClientRetries<FoundResponse, FoundResponse['name']>;
  readonly #temporary: TemporarySessions;
  readonly #router: Router;

  constructor(context: PluginContext, options: ResponseRoutesOptions) {
    this.#context = context;
    this.#options = options;
    this.#finder = new Finder(context);
    this.#answers = new FoundResponseWriter(options);
    this.#creating = new ResponseCreator(context, this.#finder, options);
    this.#compactor = new Compactor(context, this.#finder);
    this.#retries = new ClientRetries(context.peers, ({ name }) => name);
    this.#temporary = new TemporarySessions(context, options.toolWaitMs);
    this.#router = new Router(options.path, {
      POST: (asked) => this.#create(asked),
      'POST compact': (asked) => this.#compact(asked),
      'GET {id}': (asked, id) => this.#retrieve(asked, id),
      'DELETE {id}': ({ person }, id) => this.#delete(person, id),
      'POST {id}/cancel': ({ person }, id) => this.#cancel(person, id),
      'GET {id}/input_items': async ({ person, query }, id) =>
        itemPage(await this.#answers.input(await this.#finder.known(id, person)), query),
    });
  }

  /** Ends runs that wait for callers, which cannot come back to a closing gateway. */
  drain(): MaybePromise<void> {
    return this.#temporary.drain();
  }

  /** Resolves when all temporary sessions are dropped. */
  settled(): Promise<void> {
    return this.#temporary.settled();
  }

  /** Serves one request. @throws GatewayError before the response has begun */
  async serve(call: PluginRequest): Promise<void> {
    await this.#router.serve(call, notServed);
  }

  async #create({ call, person }: RouteRequest): Promise<void> {
    const { response } = call;
    const { headers } = call.request;
    const gone = leftBy(response);
    const body = await call.body();
    const request = readResponseRequest(body);
    const app = await this.#appOf(request.model, person);
    const found = await this.#retries.once(
      { headers, person, body },
      () => this.#creating.create({ request, person, headers, app }),
      (name) => this.#finder.segment(name, person),
    );
    const { session, name } = found;
    await this.#telling(found, person, async (before) => {
      const leaving = this.#options.onLeave === 'abort' && !request.background ? name.runId : undefined;
      try {
        if (request.stream) return await this.#answers.stream({ response }, found, { before, leaving });
        if (request.background) return sendJson(response, await this.#answers.now(found));
        const stream = await this.#answers.whole(found, gone);
        await before(stream);
        sendJson(response, stream.response);
      } catch (error) {
        if (leaving !== undefined && gone.aborted) await leave(session, leaving, this.#options.report);
        throw error;
      }
    }).catch((error: unknown) => {
      if (!gone.aborted && !response.headersSent) throw error;
    });
  }

  /** Creates a response and tells it on a socket, which may carry others afterwards. @throws GatewayError */
  async tellOn(
    { socket, person, request: { headers } }: PluginUpgrade,
    { body, key, frame }: SocketTurn,
  ): Promise<void> {
    const request = readResponseRequest({ ...body, stream: true });
    if (request.background) throw fieldError('background', 'is not for a WebSocket', 'invalid_value');
    const app = await this.#appOf(request.model, person);
    const keyed = { ...headers, ...(key !== undefined && { 'idempotency-key': key }) };
    const found = await this.#creating.create({ request, person, headers: keyed, app });
    const leaving = this.#options.onLeave === 'abort' ? found.name.runId : undefined;
    await this.#telling(found, person, (before) =>
      this.#answers.stream({ socket }, found, { before, leaving, frame }),
    );
  }

  /** Has a response told. A session that is for it alone is dropped with it, or waits for the outputs of functions. */
  async #telling(
    { session, name }: FoundResponse,
    person: Person,
    tell: (before: (stream: ResponseStream) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    if (!isTemporary(session.id)) return tell(async () => {});
    await this.#temporary.taken(session.id, person);
    try {
      await tell(async (stream) => {
        if (stream.ended) await this.#temporary.drop(session, name.runId, person);
        else await this.#temporary.wait(session.id, name.runId, person);
      });
    } catch (error) {
      await this.#temporary.drop(session, name.runId, person);
      throw error;
    }
  }

  async #compact({ call, person }: RouteRequest): Promise<object> {
    const request = readCompactRequest(await call.body());
    return this.#compactor.compact(request, await this.#appOf(request.model, person), person);
  }

  #appOf(model: string | undefined, person: Person): Promise<string> {
    const byDefault = this.#context.apps().find(({ isDefault }) => isDefault)!.name;
    return this.#options.models.appOf(model ?? byDefault, person);
  }

  async #retrieve({ call: { response }, person, query }: RouteRequest, id: string): Promise<unknown> {
    const found = await this.#finder.known(id, person);
    if (query.get('stream') !== 'true') return this.#answers.now(found);
    const after = query.get('starting_after');
    if (after !== null && !/^\d{1,9}$/.test(after))
      throw fieldError('starting_after', 'must be the number of an event, 0 or more', 'invalid_value');
    try {
      await this.#answers.stream({ response }, found, { skip: after === null ? 0 : Number(after) + 1 });
    } catch (error) {
      if (!response.headersSent) throw error;
    }
    return undefined;
  }

  async #cancel(person: Person, id: string): Promise<object> {
    const found = await this.#finder.known(id, person);
    const { session, name, run } = found;
    if (run && !run.isOver) {
      // This response is over if its run has gone on to a later one, which a cancel must not end.
      const { status } = await this.#answers.now(found);
      const isLast = status === 'queued' || status === 'in_progress' || (await this.#waitsBehind(found));
      if (isLast) await session.abort({ runId: name.runId, reason: 'cancelled' });
    }
    return (await this.#answers.whole(found)).response;
  }

  /** Whether the run still waits behind the questions at the end of a response. */
  async #waitsBehind({ session, name, run }: FoundResponse): Promise<boolean> {
    const next = { session, name: { ...name, index: name.index + 1 }, run };
    try {
      return (
        (await this.#answers.now(next)).output.length === 0 && (await session.status()).status === 'waiting'
      );
    } catch (error) {
      if (isGatewayError(error) && error.code === 'RUN_NOT_FOUND') return true;
      throw error;
    }
  }

  async #delete(person: Person, id: string): Promise<object> {
    const found = await this.#finder.known(id, person);
    const { session, name } = found;
    const { messages, hasMore } = await session.history({ limit: 100 });
    const others = messages.some(
      ({ role, runId }) => role === 'assistant' && runId !== undefined && runId !== name.runId,
    );
    const { queued } = await session.status();
    if (!isGenerated(session.id) || others || hasMore || queued > 0)
      throw new GatewayError({
        code: 'SESSION_BUSY',
        message: 'This response belongs to a conversation with others: delete the conversation',
      });
    await session.delete();
    return { id: idOf(found), object: 'response', deleted: true };
  }
}
