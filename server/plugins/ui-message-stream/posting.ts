import { createHash } from 'node:crypto';
import { toResponse } from '../../../shared/asked-calls.js';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { OnBusy } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import type { ContentBlock, Message } from '../../../shared/messages.js';
import type { Accepted } from '../../../shared/operation-types.js';
import { baseOf, sameContent, versionId, versionOf } from '../../../shared/ui-stream/versions.js';
import { askedIn } from '../asked.js';
import type { PluginSession } from '../plugin.js';
import { stateOf } from '../session-state.js';
import type { Telling } from '../telling.js';
import type { UiRequest } from './request.js';

/** How far back in a session a message is looked for. */
const PAGE = 100;
const MAX_PAGES = 10;

/** How requests are met. */
export interface PostingOptions {
  readonly onBusy: Exclude<OnBusy, 'steer'>;
  /** What becomes of questions that are open when a user's message comes. */
  readonly openQuestions: 'keep' | 'deny';
  /** Whether what a client has before its first message is taken over. */
  readonly seed: boolean;
}

/** What a request comes to: a part of a run, or a continuation that has to wait for the answers to `missing` calls. */
export interface Posted {
  readonly telling: Telling;
  readonly missing?: readonly string[];
}

/** One request of an interface, in the session that it names. */
export class Posting {
  readonly #session: PluginSession;
  readonly #request: UiRequest;
  readonly #options: PostingOptions;
  readonly #key: string | undefined;

  /** @param key The caller's own idempotency key, which goes before those that are made of ids. */
  constructor(session: PluginSession, request: UiRequest, options: PostingOptions, key: string | undefined) {
    this.#session = session;
    this.#request = request;
    this.#options = options;
    this.#key = key;
  }

  /** Does what the last message means. @throws GatewayError */
  async post(): Promise<Posted> {
    const { message, regenerates, messageId } = this.#request;
    const state = await this.#reaching(await stateOf(this.#session), message.id);
    if (message.role === 'assistant') return this.#continue(state);
    const known = state && versionOf(state, message.id);
    if (known && regenerates) return this.#regenerate(state, known);
    if (known && messageId === message.id) return this.#edit(state, known);
    return this.#send(state);
  }

  /** The state with as many of its older messages as it takes to have one, if the session has it. */
  async #reaching(state: SessionState | null, id: string): Promise<SessionState | null> {
    let reached = state;
    let before: string | undefined;
    for (let page = 0; reached?.hasMore && page < MAX_PAGES && !versionOf(reached, id); page++) {
      const { messages, cursor, hasMore } = await this.#session.history({
        limit: PAGE,
        ...(before !== undefined && { before }),
      });
      const known = new Set(reached.messages.map((message) => message.id));
      const older = messages.filter((message) => !known.has(message.id));
      reached = { ...reached, messages: [...older, ...reached.messages], hasMore };
      before = cursor ?? undefined;
    }
    return reached;
  }

  async #send(state: SessionState | null): Promise<Posted> {
    const { before, message } = this.#request;
    if (!state && this.#options.seed && before.length > 0) await this.#seed(before);
    if (state && this.#options.openQuestions === 'deny') await this.#deny(state);
    const { id, content } = message;
    try {
      return begun(await this.#accepted({ id, content }, id));
    } catch (error) {
      const run = codeOf(error) === 'MESSAGE_EXISTS' && (await this.#runOf(message.id, content));
      if (run) return run;
      throw error;
    }
  }

  /** Of two first requests at once one begins the session; what the other brings is in it then. */
  async #seed(before: readonly unknown[]): Promise<void> {
    try {
      await this.#session.import(before, { format: 'ui' });
    } catch (error) {
      if (codeOf(error) !== 'SESSION_EXISTS') throw error;
    }
  }

  async #deny({ pending }: SessionState): Promise<void> {
    for (const { callId, runId } of pending)
      if (runId !== undefined)
        await this.#respond(callId, { approved: false, reason: 'The conversation went on' });
  }

  #accepted(
    message: { readonly id: string; readonly content: readonly ContentBlock[] },
    key: string,
    rest: { readonly replaces?: string } = {},
  ): Promise<Accepted> {
    const { metadata } = this.#request.message;
    const input = { ...message, ...(metadata && { metadata }) };
    const { onBusy } = this.#options;
    return this.#session.send(input, { ...rest, onBusy, ...this.#begins(key) }).accepted;
  }

  #begins(key: string) {
    const { clientTools, metadata } = this.#request;
    return {
      idempotencyKey: this.#key ?? keyOf(key),
      ...(clientTools.length > 0 && { clientTools }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
  }

  /** The message was sent before, by this door or another: its run is joined. */
  async #runOf(id: string, content: readonly ContentBlock[]): Promise<Posted | null> {
    const state = await stateOf(this.#session);
    const known = state && versionOf(state, id);
    const runId = known && sameContent(known.content, content) ? runAfter(state, known.id) : undefined;
    return runId === undefined ? null : this.#join(runId);
  }

  async #join(runId: string, told: Telling['told'] = 0): Promise<Posted> {
    const { cursor } = await this.#session.run(runId).status();
    return { telling: { runId, cursor, told } };
  }

  /** An edited message keeps its id in its client; in the session each version has one of its own, which begins with it. */
  async #edit(state: SessionState, known: Message): Promise<Posted> {
    const { content } = this.#request.message;
    if (sameContent(known.content, content)) {
      const { run, queue } = state;
      const runId = runAfter(state, known.id);
      const isOpen = run?.runId === runId || queue.some((queued) => queued.runId === runId);
      // Sent twice, or the same words again on purpose.
      return runId !== undefined && isOpen ? this.#join(runId) : this.#regenerate(state, known);
    }
    const digest = createHash('sha256')
      .update(JSON.stringify([known.id, content]))
      .digest('base64url');
    const id = versionId(known.id, digest.slice(0, 12));
    return begun(await this.#accepted({ id, content }, id, { replaces: known.id }));
  }

  /** The same request again joins its run while that is active; behind it, it is another. */
  async #regenerate(state: SessionState, { id }: Message): Promise<Posted> {
    const { messageId } = this.#request;
    const isOther = messageId !== undefined && baseOf(messageId) !== baseOf(id);
    const former = isOther ? messageId : formerAnswer(state, id);
    const key = `${id}:regenerate:${former ?? ''}`;
    return begun(await this.#session.regenerate({ messageId: id, ...this.#begins(key) }).accepted);
  }

  /** The answers to questions of the run that wrote a message. */
  async #continue(state: SessionState | null): Promise<Posted> {
    const { id, answers } = this.#request.message;
    const runId = state?.run?.message.id === id ? state.run.runId : await this.#writerOf(state, id);
    const { cursor } = await this.#session.run(runId).status();
    const asked = await askedIn(this.#session, { runId, cursor });
    const { index, due, missing } = asked.continuation(answers);
    for (const { callId } of due) await this.#respond(callId, toResponse(answers.get(callId)!));
    const telling = { runId, cursor, told: index };
    return missing.length > 0 ? { telling, missing: missing.map(({ callId }) => callId) } : { telling };
  }

  async #writerOf(state: SessionState | null, id: string): Promise<string> {
    const runId = state?.messages.find((message) => message.id === id)?.runId;
    if (runId === undefined) throw new GatewayError({ code: 'MESSAGE_NOT_FOUND' });
    return runId;
  }

  /** Hands an answer over. Somebody else may have been first, or the run may have ended, which its events tell. */
  async #respond(callId: string, answer: Parameters<PluginSession['respond']>[1]): Promise<void> {
    try {
      await this.#session.respond(callId, answer);
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
    }
  }
}

/** The run that answers a message, or has answered it. */
function runAfter({ messages, run, queue }: SessionState, id: string): string | undefined {
  if (run?.message.parentId === id) return run.runId;
  const queued = queue.find(({ message }) => message.id === id);
  return (
    queued?.runId ?? messages.find(({ parentId, runId }) => parentId === id && runId !== undefined)?.runId
  );
}

/** The answer that another one is to stand beside; of one that is being given, the one before. */
function formerAnswer({ messages, run }: SessionState, id: string): string | undefined {
  if (run?.message.parentId === id) return run.message.versions?.at(-2);
  return messages.find(({ parentId }) => parentId === id)?.id;
}

function begun({ runId, cursor }: Accepted): Posted {
  return { telling: { runId, cursor, told: 0 } };
}

/** Ids are any text; keys are printable ASCII. */
function keyOf(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text)) return text;
  return createHash('sha256').update(text).digest('base64url');
}

function codeOf(error: unknown): string | undefined {
  return isGatewayError(error) ? error.code : undefined;
}
