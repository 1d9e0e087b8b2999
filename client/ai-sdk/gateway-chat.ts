import { AskedCalls, isAwaited, toResponse, WENT_ON } from '../../shared/asked-calls.js';
import { GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import type { ToldPart } from '../../shared/segment-stream.js';
import type { UiChunk, UiMessage } from '../../shared/ui-stream/chunks.js';
import { toUiMessage } from '../../shared/ui-stream/messages.js';
import { metadataOf, type UiStreamOptions } from '../../shared/ui-stream/options.js';
import { UiMessageStream } from '../../shared/ui-stream/stream.js';
import { unchanged } from '../../shared/ui-stream/unchanged.js';
import { sameContent, versionId, versionOf } from '../../shared/ui-stream/versions.js';
import type { Client } from '../client.js';
import { randomId } from '../random.js';
import type { Run } from '../run.js';
import type { ClientSession } from '../session.js';
import { answersIn, asksIn, contentOf } from './given.js';
import { originOf, readSoFar, toStream } from './read-run.js';

/** Options of `gatewayChat`. */
export interface GatewayChatOptions extends UiStreamOptions {
  /** The app of chats whose id names no app. @default the gateway's default app */
  readonly app?: string;
  /**
   * Whether questions that the page shows and that a user's message would wait for are denied first, or stay open. The page can answer none
   * while its message waits.
   *
   * @default 'deny'
   */
  readonly openQuestions?: 'keep' | 'deny';
}

/** A chat's request, equal in every version of the SDK. */
export interface SentChat {
  readonly trigger: 'submit-message' | 'regenerate-message';
  readonly chatId: string;
  readonly messageId?: string | undefined;
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
  /** Reaches the app as `turn.metadata`. */
  readonly body?: object | undefined;
}

/** A transport of the AI SDK over a client of the gateway: its `ChatTransport`, with further methods. */
export interface GatewayChat {
  /** `reconnectToStream` replays the whole answer. */
  readonly resumeStreamIsReplay: true;
  /** Sends, edits, regenerates or answers, by the last message. A signal detaches; see `stop`. Rejects with `GatewayError`. */
  sendMessages(options: SentChat): Promise<ReadableStream<any>>;
  /** The answer in progress, or one whose end this transport has not told yet, from its beginning; null if there is none. */
  reconnectToStream(options: { readonly chatId: string }): Promise<ReadableStream<any> | null>;
  /** Ends the run, which leaving the stream does not. False if nothing runs. */
  stop(chatId: string): Promise<boolean>;
  /** The last messages of the chat, as the hook's first ones. @param limit @default 50 */
  messages(chatId: string, limit?: number): Promise<UiMessage[]>;
}

/**
 * Makes a transport for `useChat` and `Chat` of AI SDK 5, 6 and 7 out of a client. One connection serves all chats; a drop within an answer
 * is resumed by cursor, and the chat never sees it.
 *
 * @example
 * ```ts
 * const transport = gatewayChat(client);
 * const messages = await transport.messages('main');
 * // In a component: useChat({ id: 'main', messages, transport, resume: true })
 * ```
 */
export function gatewayChat(client: Client<any>, options: GatewayChatOptions = {}): GatewayChat {
  const { app } = options;
  const sessionOf = (chatId: string): ClientSession =>
    client.session(app !== undefined && !chatId.includes(':') ? `${app}:${chatId}` : chatId);
  // Runs whose end the chat was not told.
  const untold = new Map<string, string>();
  const tell: Tell = (chatId, told, { runId, from, signal }) => {
    untold.set(chatId, runId);
    const ended = (): void => {
      if (untold.get(chatId) === runId) untold.delete(chatId);
    };
    const stream = new UiMessageStream(runId, told, options);
    return toStream(sessionOf(chatId), stream, { from, signal, ended });
  };
  return {
    resumeStreamIsReplay: true,
    sendMessages: async (sent) => new ChatSend(sessionOf(sent.chatId), sent, { options, tell }).stream(),
    async reconnectToStream({ chatId }) {
      const session = sessionOf(chatId);
      const { run, queue } = await session.state();
      const runId = run?.runId ?? queue[0]?.runId ?? untold.get(chatId);
      if (runId === undefined) return null;
      return tell(chatId, 'whole', { runId, from: await originOf(session, runId) });
    },
    async stop(chatId) {
      return (await sessionOf(chatId).abort()).aborted;
    },
    async messages(chatId, limit) {
      const { messages } = await historyOf(sessionOf(chatId), limit);
      return messages.map((message) => toUiMessage(message as never, options));
    },
  };
}

/** Tells a chat a part of a run. */
type Tell = (
  chatId: string,
  told: ToldPart,
  run: { readonly runId: string; readonly from: string; readonly signal?: AbortSignal | undefined },
) => ReadableStream<UiChunk>;

async function historyOf(
  session: ClientSession,
  limit: number | undefined,
): ReturnType<ClientSession['history']> {
  try {
    return await session.history(limit === undefined ? {} : { limit });
  } catch (error) {
    if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND')
      return { messages: [], cursor: null, hasMore: false };
    throw error;
  }
}

/** One request of a chat. */
class ChatSend {
  readonly #session: ClientSession;
  readonly #sent: SentChat;
  readonly #options: GatewayChatOptions;
  readonly #tell: Tell;
  readonly #message: UiMessage;

  constructor(
    session: ClientSession,
    sent: SentChat,
    { options, tell }: { readonly options: GatewayChatOptions; readonly tell: Tell },
  ) {
    const message = sent.messages.at(-1) as UiMessage | undefined;
    if (!message)
      throw new GatewayError({ code: 'INVALID_REQUEST', message: 'There is no message to answer' });
    this.#session = session;
    this.#sent = sent;
    this.#options = options;
    this.#tell = tell;
    this.#message = message;
  }

  async stream(): Promise<ReadableStream<UiChunk>> {
    if (this.#message.role === 'assistant') return this.#continue();
    if (this.#options.openQuestions !== 'keep') await this.#settle();
    const run = await this.#begin();
    const { runId, cursor } = await run.accepted;
    return this.#told(runId, 0, cursor);
  }

  #told(runId: string, index: number, from: string): ReadableStream<UiChunk> {
    const { chatId, abortSignal: signal } = this.#sent;
    return this.#tell(chatId, index, { runId, from, signal });
  }

  /** Denies what the page leaves open and its message would wait for. */
  async #settle(): Promise<void> {
    if (!this.#sent.messages.some((message) => asksIn((message as UiMessage).parts))) return;
    const state = await this.#session.state();
    for (const { callId, runId } of state.pending)
      if (isAwaited(state, runId)) await this.#respond(callId, { approved: false, reason: WENT_ON });
  }

  async #begin(): Promise<Run> {
    const { id, parts } = this.#message;
    const { trigger, messageId, body } = this.#sent;
    const content = contentOf(parts);
    const metadata = body && { metadata: body as Readonly<Record<string, unknown>> };
    const names = trigger === 'regenerate-message' || messageId === id;
    const state = names ? await this.#session.state() : null;
    const known = state && versionOf(state, id);
    // The gateway does not know the message, so an earlier attempt did not reach it: send it.
    if (!state || (!known && !state.hasMore)) {
      const key = /^[\x21-\x7e]{1,256}$/.test(id) && { idempotencyKey: id };
      return this.#session.send({ id, content }, { ...metadata, ...key });
    }
    const shown = known?.id ?? id;
    const repeats = known && sameContent(known.content, content);
    if (trigger === 'regenerate-message' || repeats) return this.#session.regenerate(shown, { ...metadata });
    return this.#session.edit(shown, { id: versionId(shown, randomId()), content }, { ...metadata });
  }

  async #continue(): Promise<ReadableStream<UiChunk>> {
    const { id, parts } = this.#message;
    const session = this.#session;
    const { run, messages } = await session.state();
    const runId = run?.message.id === id ? run.runId : messages.find((message) => message.id === id)?.runId;
    if (runId === undefined)
      throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', message: 'There is no such message' });
    const asked = new AskedCalls(runId);
    await readSoFar(session, runId, asked);
    const answers = answersIn(parts);
    const { index, due, missing } = asked.continuation(answers);
    for (const { callId } of due) await this.#respond(callId, toResponse(answers.get(callId)!));
    if (missing.length === 0) return this.#told(runId, index, await originOf(session, runId));
    return new ReadableStream({
      start: (controller) => {
        const open = missing.map(({ callId }) => callId);
        const metadata = metadataOf({ runId }, this.#options);
        for (const chunk of unchanged(this.#message, open, metadata)) controller.enqueue(chunk);
        controller.close();
      },
    });
  }

  /** Hands an answer over. If another client was first, or the run has ended, the run's events tell it. */
  async #respond(callId: string, answer: Parameters<ClientSession['respond']>[1]): Promise<void> {
    try {
      await this.#session.respond(callId, answer);
    } catch (error) {
      const code = isGatewayError(error) ? error.code : undefined;
      if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
    }
  }
}
