import { GatewayError } from '../../../shared/errors.js';
import { parseSegment } from '../../../shared/segments.js';
import { toUiMessage } from '../../../shared/ui-stream/messages.js';
import { metadataOf, type UiStreamOptions } from '../../../shared/ui-stream/options.js';
import { unchanged } from '../../../shared/ui-stream/unchanged.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { currentRun } from '../conversation/conversation.js';
import { fieldError } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { assertKept, stateOf, stop } from '../conversation/state.js';
import type { ToldSegment } from '../conversation/told-segment.js';
import { only, partsOf, queryOf } from '../conversation/urls.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { UiPost } from './post.js';
import { readUiRequest } from './request.js';
import { tellEnd, tellNothing, tellRun } from './telling.js';

/** The parts that the routes use. */
export interface UiRoutesOptions {
  readonly path: string;
  readonly app: string | undefined;
  readonly resumeFinishedMs: number;
  readonly conversation: ConversationOptions;
  readonly stream: UiStreamOptions;
}

/** The routes of an interface: its posts, and streams below the ids of chats and segments. */
export class UiRoutes {
  readonly #context: PluginContext;
  readonly #options: UiRoutesOptions;

  constructor(context: PluginContext, options: UiRoutesOptions) {
    this.#context = context;
    this.#options = options;
  }

  get #telling(): Parameters<typeof tellRun>[3] {
    return { ...this.#options.stream, report: this.#context.report };
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest): Promise<void> {
    const rest = call.path.slice(this.#options.path.length + 1);
    const [id = '', action, ...more] = partsOf(rest);
    if (more.length > 0 || (id === '' && rest !== '')) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    if (action !== undefined && action !== 'stream' && action !== 'stop')
      throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    only(id === '' || action === 'stop' ? 'POST' : 'GET', call);
    if (id === '') return this.#post(call);
    if (action === 'stop') return this.#stop(call, id);
    return action === 'stream' ? this.#stream(call, id) : this.#history(call, id);
  }

  #session(chatId: string, person: Person): PluginSession {
    const { app } = this.#options;
    const key = app !== undefined && !chatId.includes(':') ? `${app}:${chatId}` : chatId;
    return this.#context.session(key, person);
  }

  async #post(call: PluginRequest): Promise<void> {
    const person = await call.authenticate();
    const request = readUiRequest(await call.body());
    const { conversation: options, stream } = this.#options;
    const session = this.#session(request.chatId, person);
    const key = call.request.headers['idempotency-key'];
    const posted = await new UiPost(session, request, { options, key: key?.toString() }).post();
    const { telling, missing } = posted;
    const leaving = options.onLeave === 'abort' ? telling.runId : undefined;
    if (!missing) return tellRun(call.response, session, telling, { ...this.#telling, leaving });
    const metadata = metadataOf({ runId: telling.runId }, stream);
    tellNothing(call.response, session, telling, unchanged(request.message, missing, metadata));
  }

  async #history({ authenticate, request, response }: PluginRequest, chatId: string): Promise<void> {
    const session = this.#session(chatId, await authenticate());
    const query = queryOf(request.url);
    const limit = query.get('limit');
    const before = query.get('before');
    const page = await session.history({
      ...(limit !== null && { limit: Number(limit) }),
      ...(before !== null && { before }),
    });
    const messages = page.messages.map((message) => toUiMessage(message, this.#options.stream));
    sendJson(response, { messages, cursor: page.cursor, hasMore: page.hasMore });
  }

  async #stop(call: PluginRequest, chatId: string): Promise<void> {
    const person = await call.authenticate();
    const { activeStreamId } = (await call.body()) as { readonly activeStreamId?: unknown };
    const segment = typeof activeStreamId === 'string' ? parseSegment(activeStreamId) : null;
    await stop(this.#session(chatId, person), segment?.runId);
    sendJson(call.response, { success: true });
  }

  async #stream({ authenticate, request, response }: PluginRequest, id: string): Promise<void> {
    const person = await authenticate();
    const index = startIndexOf(request.url);
    const segment = parseSegment(id);
    const session = segment ? this.#context.session(segment.sessionId, person) : this.#session(id, person);
    const found = segment
      ? { runId: segment.runId, told: segment.index }
      : await this.#current(session, index !== null);
    if (!found) {
      if (index === null) response.writeHead(204, { 'Cache-Control': 'no-store' }).end();
      else tellEnd(response);
      return;
    }
    const { cursor } = await session.run(found.runId).status();
    if (found.told !== 'whole' || index !== null) await assertKept(session, cursor);
    const telling: ToldSegment = { ...found, cursor, ...(index !== null && { skip: index }) };
    await tellRun(response, session, telling, this.#telling);
  }

  /** The answer in progress, or about to begin, or that has just ended. @param ever Whether it may have ended long ago */
  async #current(session: PluginSession, ever: boolean): Promise<Pick<ToldSegment, 'runId' | 'told'> | null> {
    const state = await stateOf(session);
    if (!state) return null;
    const active = currentRun(state);
    if (active !== undefined) return { runId: active, told: 'whole' };
    const { runId, endedAt } = state.messages.at(-1) ?? {};
    if (runId === undefined || endedAt === undefined) return null;
    const isRecent = Date.now() - endedAt <= this.#options.resumeFinishedMs;
    return ever || isRecent ? { runId, told: 'whole' } : null;
  }
}

/** The number of chunks that a counting client has. @throws GatewayError `INVALID_REQUEST` */
function startIndexOf(url: string | undefined): number | null {
  const text = queryOf(url).get('startIndex');
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw fieldError('startIndex', 'must be the number of chunks that were read, 0 or more');
}
