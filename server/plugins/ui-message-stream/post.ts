import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import { versionOf } from '../../../shared/ui-stream/versions.js';
import { Conversation, type RunPlace } from '../conversation/conversation.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { ToldSegment } from '../conversation/told-segment.js';
import type { PluginSession } from '../plugin.js';
import type { UiRequest } from './request.js';

/** The outcome of a request: a part of a run, or a continuation that must wait for the answers to `missing` calls. */
export interface PostedPart {
  readonly telling: ToldSegment;
  readonly missing?: readonly string[];
}

/** One request of an interface, in the session that it names. */
export class UiPost {
  readonly #request: UiRequest;
  readonly #conversation: Conversation;

  /** @param key The caller's own idempotency key. It takes precedence over keys made of ids. */
  constructor(
    session: PluginSession,
    request: UiRequest,
    { options, key }: { readonly options: ConversationOptions; readonly key: string | undefined },
  ) {
    this.#request = request;
    const { clientTools, metadata } = request;
    this.#conversation = new Conversation(session, options, { key, clientTools, metadata });
  }

  /** Performs the request that the last message expresses. @throws GatewayError */
  async post(): Promise<PostedPart> {
    const { message, messageId } = this.#request;
    const state = await this.#conversation.state(message.id);
    return message.role === 'assistant' ? this.#continue(state) : begun(await this.#begin(state, messageId));
  }

  async #begin(state: SessionState | null, messageId: string | undefined): Promise<RunPlace> {
    const { before, message, regenerates } = this.#request;
    const conversation = this.#conversation;
    const { id, content, metadata } = message;
    const said = { id, content, ...(metadata && { metadata }) };
    const known = state && versionOf(state, id);
    if (known && regenerates) return conversation.regenerate(state, known, messageId);
    if (known && messageId === id) return conversation.change(state, known, said);
    return conversation.send(await conversation.seeded(state, { messages: before, format: 'ui' }), said);
  }

  /** Answers questions of the run that wrote a message. */
  async #continue(state: SessionState | null): Promise<PostedPart> {
    const { id, answers } = this.#request.message;
    const { run, messages = [] } = state ?? {};
    const writer = run?.message.id === id ? run : messages.find((message) => message.id === id);
    if (writer?.runId === undefined) throw new GatewayError({ code: 'MESSAGE_NOT_FOUND' });
    const { index, missing, ...place } = await this.#conversation.answer(state, writer.runId, answers);
    // The page would get parts of the run twice, since they cannot be told apart.
    if (index === null) throw new GatewayError({ code: 'CURSOR_GONE' });
    const telling = { ...place, told: index };
    return missing.length > 0 ? { telling, missing: missing.map(({ callId }) => callId) } : { telling };
  }
}

const begun = (run: RunPlace): PostedPart => ({ telling: { ...run, told: 0 } });
