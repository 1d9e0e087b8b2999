import type { GatewayError } from '../shared/gateway-error.js';
import type { Message, MessageInput, SendInput } from '../shared/messages.js';
import { createListeners } from './listeners.js';

/** Failed sends a client remembers, for somebody to repeat or discard. */
const MOST_FAILED = 100;

/** Something asked for that the session does not show yet. */
interface OnItsWay {
  /** Its idempotency key. */
  readonly key: string;
  /** `failed`: it was not accepted, and is not tried any more. */
  readonly status: 'sending' | 'failed';
  /** Why it failed, or what the last of its attempts met. */
  readonly error?: GatewayError;
  /** Tries again at once, under the same key: whatever became of it before, there is one run. */
  readonly retry: () => void;
  /** Gives it up, and shows it no more. */
  readonly discard: () => void;
}

/** A message on its way: sent, and not yet seen in the session. */
export interface SendingMessage extends OnItsWay {
  /** Its id is the one it will have in the session. */
  readonly message: Message;
  /** Id of the message whose place it takes: that one was edited. */
  readonly replaces?: string | undefined;
}

/** A new answer that was asked for, and has not yet begun. */
export interface Regenerating extends OnItsWay {
  /** Id of the answer that it is to stand beside, or of the message that it answers, where one was named. */
  readonly messageId?: string | undefined;
  /** Its run, once that is known. */
  readonly runId?: string | undefined;
}

/** The sends of a client that its sessions do not show yet. */
export interface Outbox {
  /** Calls the listener after each change. Returns what stops it. */
  subscribe(listener: () => void): () => void;
  /** @param isSame Whether two spellings name one session. */
  of(isSame: (sessionId: string) => boolean): (SendingMessage | Regenerating)[];
  set(sessionId: string, sending: SendingMessage | Regenerating): void;
  has(key: string): boolean;
  remove(key: string): void;
}

export function createOutbox(): Outbox {
  const entries = new Map<
    string,
    { readonly sessionId: string; readonly sending: SendingMessage | Regenerating }
  >();
  const { subscribe, emit } = createListeners();
  return {
    subscribe,
    of: (isSame) =>
      [...entries.values()].filter(({ sessionId }) => isSame(sessionId)).map(({ sending }) => sending),
    set: (sessionId, sending) => {
      // One new answer at a time: whoever asks for another one has seen that the last failed.
      for (const [key, { sessionId: id, sending: other }] of entries)
        if (id === sessionId && !('message' in sending || 'message' in other)) entries.delete(key);
      entries.set(sending.key, { sessionId, sending });
      const failed = [...entries.values()].filter((each) => each.sending.status === 'failed');
      if (failed.length > MOST_FAILED) entries.delete(failed[0]!.sending.key);
      emit();
    },
    has: (key) => entries.has(key),
    remove: (key) => {
      if (entries.delete(key)) emit();
    },
  };
}

/** The message of a send as it goes over the wire, with an id: without one of its own it is known by its key, wherever it is shown. */
export function identified(input: SendInput, key: string): MessageInput {
  const written = typeof input === 'string' || Array.isArray(input) ? { content: input } : input;
  return { id: key, ...(written as MessageInput) };
}

/** A message as it will look, until the gateway says how it does. */
export function draftMessage({ content, ...rest }: MessageInput): Message {
  return {
    role: 'user',
    createdAt: Date.now(),
    ...(rest as Partial<Message> & { readonly id: string }),
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  };
}
