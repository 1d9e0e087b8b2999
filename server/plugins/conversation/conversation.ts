import {
  type AskedCall,
  answersCall,
  type CallAnswer,
  isAwaited,
  WENT_ON,
} from '../../../shared/asked-calls.js';
import { cut } from '../../../shared/cut.js';
import { initialState, type SessionState } from '../../../shared/fold.js';
import { lastMessage } from '../../../shared/last-message.js';
import type { ContentBlock, Message, MessageInput } from '../../../shared/messages.js';
import { baseOf, sameContent, versionId, versionOf } from '../../../shared/ui-stream/versions.js';
import type { ClientTool } from '../../apps/application.js';
import { digestOf } from '../../ids.js';
import type { PluginSession } from '../plugin.js';
import { askedIn, handOver } from './asked.js';
import { answerable, newInConversation, wholeConversation } from './compare.js';
import { codeOf } from './errors.js';
import type { ConversationOptions } from './options.js';
import { isKept, stateOf, stateReaching } from './state.js';
import type { Last } from './turns.js';

/** Everything that a request brings along for its run. */
export interface Brought {
  /** The caller's own idempotency key. It takes precedence over keys made of ids. */
  readonly key?: string | undefined;
  readonly clientTools?: readonly ClientTool[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The parent of the new message, null for the beginning. @default the last one */
  readonly parent?: string | null;
}

/** A message of a user, under its client's id. */
export type SaidMessage = MessageInput & { readonly id: string; readonly content: readonly ContentBlock[] };

/** A run, and the place just before its first event. */
export interface RunPlace {
  readonly runId: string;
  readonly cursor: string;
}

/** The place where a run goes on behind answered questions. */
export interface Continuation extends RunPlace {
  /** The segment behind the last questions that are answered: 0 if none is, null if the run's events are gone. */
  readonly index: number | null;
  /** Open questions of the same batch. */
  readonly missing: readonly AskedCall[];
}

/** The client's messages before its first one here. */
export interface Before {
  readonly messages: readonly unknown[];
  readonly format?: 'ui';
}

const NO_ANSWERS: ReadonlyMap<string, CallAnswer> = new Map();

/**
 * A session for clients of other protocols, which bring all their messages with each request. This class alone decides the meaning of a
 * request. The session is the truth, ids are the client's, and a repeated request leads to the same run.
 */
export class Conversation {
  readonly session: PluginSession;
  readonly #options: Partial<ConversationOptions>;
  readonly #brought: Brought;

  constructor(session: PluginSession, options: Partial<ConversationOptions>, brought: Brought = {}) {
    this.session = session;
    this.#options = options;
    this.#brought = brought;
  }

  /** The session's state, with enough older messages to include the given one; null if it has not begun. */
  state(reaching?: string): Promise<SessionState | null> {
    return reaching === undefined ? stateOf(this.session) : stateReaching(this.session, reaching);
  }

  /** The run that an earlier request with the same key has begun. */
  async sent(): Promise<Awaited<ReturnType<PluginSession['sent']>>> {
    const { key } = this.#brought;
    return key === undefined ? null : this.session.sent(key);
  }

  /** The place where a run begins. */
  async place(runId: string): Promise<RunPlace> {
    const { cursor } = await this.session.run(runId).status();
    return { runId, cursor };
  }

  /**
   * Begins the session with the client's earlier messages, unless it has begun or must not be seeded.
   *
   * @returns The state afterwards
   */
  async seeded(state: SessionState | null, { messages, format }: Before): Promise<SessionState | null> {
    if (state || !this.#options.seed || messages.length === 0) return state;
    try {
      await this.session.import(messages, format ? { format } : {});
    } catch (error) {
      // Two first requests at once bring the same messages. One of them begins the session.
      if (codeOf(error) !== 'SESSION_EXISTS') throw error;
    }
    return stateOf(this.session);
  }

  /**
   * Sends a message. If the session already has it, an equal one leads to the run that answers it, and a different one changes it.
   */
  async send(
    state: SessionState | null,
    message: SaidMessage,
    answers: ReadonlyMap<string, CallAnswer> = NO_ANSWERS,
  ): Promise<RunPlace> {
    if (state) await this.#settle(state, answers);
    try {
      return await this.#begin(message, message.id);
    } catch (error) {
      const now = codeOf(error) === 'MESSAGE_EXISTS' && (await this.state(message.id));
      const known = now && versionOf(now, message.id);
      if (!known) throw error;
      const runId = sameContent(known.content, message.content) ? runAfter(now, known.id) : undefined;
      return runId === undefined ? this.change(now, known, message) : this.place(runId);
    }
  }

  /**
   * Settles open questions when a client writes on: with the answers that it brings, or else, if the option says so, by denying those that
   * its message would wait for.
   */
  async #settle(state: SessionState, answers: ReadonlyMap<string, CallAnswer>): Promise<void> {
    for (const question of state.pending) {
      const { callId, runId } = question;
      const answer = answers.get(callId);
      if (answersCall(answer, question)) await handOver(this.session, callId, answer);
      else if (this.#options.openQuestions === 'deny' && !answer && isAwaited(state, runId))
        await handOver(this.session, callId, { kind: 'failure', reason: WENT_ON });
    }
  }

  /**
   * Changes a message of the session, or answers it again if its content is the same. A repeated call leads to the same run as long as that
   * is active.
   */
  async change(state: SessionState, known: Message, message: SaidMessage): Promise<RunPlace> {
    if (sameContent(known.content, message.content)) {
      const open = openRunAfter(state, known.id);
      return open === undefined ? this.regenerate(state, known) : this.place(open);
    }
    const digest = digestOf(JSON.stringify([known.id, message.content]));
    // An edited message keeps its id in its client. In the session each version has an id of its own, which begins with it.
    const id = versionId(known.id, cut(digest, 12));
    return this.#begin({ ...message, id }, id, known.id);
  }

  /** Answers a message again. @param instead The answer that the client names. @default the one that is shown */
  async regenerate(state: SessionState, { id }: Message, instead?: string): Promise<RunPlace> {
    const isOther = instead !== undefined && baseOf(instead) !== baseOf(id);
    const former = isOther ? instead : formerAnswer(state, id);
    const key = `${id}:regenerate:${former ?? ''}`;
    return placeOf(await this.session.regenerate({ messageId: id, ...this.#begins(key) }).accepted);
  }

  async #begin(message: SaidMessage, key: string, replaces?: string): Promise<RunPlace> {
    const { onBusy = 'queue' } = this.#options;
    const { parent } = this.#brought;
    const place = replaces !== undefined ? { replaces } : parent !== undefined && { parent };
    const options = { onBusy, ...this.#begins(key), ...place };
    return placeOf(await this.session.send(answerable(message), options).accepted);
  }

  #begins(key: string) {
    const { clientTools = [], parameters = {}, metadata = {} } = this.#brought;
    return {
      idempotencyKey: this.#brought.key ?? keyOf(key),
      ...(clientTools.length > 0 && { clientTools }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
  }

  /** Hands over the answers to a run's open questions. */
  async answer(
    state: SessionState | null,
    runId: string,
    answers: ReadonlyMap<string, CallAnswer>,
  ): Promise<Continuation> {
    const place = await this.place(runId);
    if (!(await isKept(this.session, place.cursor))) {
      // Only the open questions are still known.
      for (const question of state?.pending ?? []) {
        const answer = answers.get(question.callId);
        if (answersCall(answer, question)) await handOver(this.session, question.callId, answer);
      }
      return { ...place, index: null, missing: [] };
    }
    const { index, due, missing } = (await askedIn(this.session, place)).continuation(answers);
    for (const { callId } of due) await handOver(this.session, callId, answers.get(callId)!);
    return { ...place, index, missing };
  }

  /**
   * Sends those of a caller's messages that the session does not have, behind the compared ones. Null if none is new.
   *
   * @param options `isWhole`: the caller sends its whole conversation, and not only new messages. `last`: the session's last message, if it
   * is known; false accepts any
   */
  async add(
    state: SessionState | null,
    messages: readonly MessageInput[],
    options: {
      readonly isWhole: boolean;
      readonly last: Last | false;
      shape?(input: MessageInput): MessageInput;
    },
  ): Promise<RunPlace | null> {
    const { isWhole, last, shape = (input: MessageInput) => input } = options;
    const behind = last === undefined ? lastMessage(state ?? initialState) : last;
    const outgoing =
      isWhole && state ? await newInConversation(messages, this.session) : wholeConversation(messages);
    if (!outgoing) return null;
    const { key, ...brought } = this.#brought;
    const { preceding } = outgoing;
    const { onBusy = 'queue' } = this.#options;
    const given = { ...brought, preceding, onBusy, ...(behind !== false && { behind }) };
    const keyed = { ...given, ...(key !== undefined && { idempotencyKey: key }) };
    return placeOf(await this.session.send(shape(outgoing.input), keyed).accepted);
  }
}

const placeOf = ({ runId, cursor }: RunPlace): RunPlace => ({ runId, cursor });

/** The active run, or the first queued one. */
export function currentRun({ run, queue }: SessionState): string | undefined {
  return run?.runId ?? queue[0]?.runId;
}

/** The run that answers a message, or has answered it. */
export function runAfter({ messages, run, queue }: SessionState, id: string): string | undefined {
  if (run?.message.parentId === id) return run.runId;
  const queued = queue.find(({ message }) => message.id === id);
  return (
    queued?.runId ?? messages.find(({ parentId, runId }) => parentId === id && runId !== undefined)?.runId
  );
}

/** The run that answers a message, unless it has ended. */
export function openRunAfter(state: SessionState, id: string): string | undefined {
  const runId = runAfter(state, id);
  const isOpen = state.run?.runId === runId || state.queue.some((queued) => queued.runId === runId);
  return isOpen ? runId : undefined;
}

/** The answer that a new one stands beside. If a new one is in progress, the answer before it. */
function formerAnswer({ messages, run }: SessionState, id: string): string | undefined {
  if (run?.message.parentId === id) return run.message.versions?.at(-2);
  return messages.find(({ parentId }) => parentId === id)?.id;
}

/** Makes an idempotency key of an id, which may be any text. Keys are printable ASCII. */
export function keyOf(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text)) return text;
  return digestOf(text);
}
