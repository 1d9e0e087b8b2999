import type { GatewayError } from '../shared/gateway-error.js';
import type { Message, MessageInput, SendInput } from '../shared/messages.js';
import { createListeners } from './listeners.js';

/** The number of failed sends that a client remembers, for somebody to repeat or discard. */
const MOST_FAILED = 100;

/** A request that the session does not show yet. */
interface OnItsWay {
  /** Its idempotency key. */
  readonly key: string;
  /** `failed`: it was not accepted, and is not tried any more. */
  readonly status: 'sending' | 'failed';
  /** The reason why it failed, or the error of its last attempt. */
  readonly error?: GatewayError;
  /** Tries again at once under the same key, which starts at most one run. */
  readonly retry: () => void;
  /** Gives it up and removes it. */
  readonly discard: () => void;
}

/** A message on its way: sent, and not yet seen in the session. */
export interface SendingMessage extends OnItsWay {
  /** The message; it will have the same id in the session. */
  readonly message: Message;
  /** Id of the message that this one replaces (an edit). */
  readonly replaces?: string | undefined;
}

/** A requested new answer that has not yet begun. */
export interface PendingRegeneration extends OnItsWay {
  /** Id of the answer or the message that the request named, if it named one. */
  readonly messageId?: string | undefined;
  /** Its run, once that is known. */
  readonly runId?: string | undefined;
}

/** The sends of a client that its sessions do not show yet. */
export interface Outbox {
  /** Calls the listener after each change. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /** @param isSame Whether two spellings name one session. */
  of(isSame: (sessionId: string) => boolean): (SendingMessage | PendingRegeneration)[];
  set(sessionId: string, sending: SendingMessage | PendingRegeneration): void;
  has(key: string): boolean;
  remove(key: string): void;
  /** Removes all of them, and tells nobody. */
  clear(): void;
}

export function createOutbox(): Outbox {
  const entries = new Map<
    string,
    { readonly sessionId: string; readonly sending: SendingMessage | PendingRegeneration }
  >();
  const { subscribe, emit } = createListeners();
  return {
    subscribe,
    of: (isSame) =>
      [...entries.values()].filter(({ sessionId }) => isSame(sessionId)).map(({ sending }) => sending),
    set: (sessionId, sending) => {
      // One new answer at a time. A user who asks for another one has seen the last failure.
      for (const [key, { sessionId: id, sending: other }] of entries)
        if (id === sessionId && !('message' in sending || 'message' in other)) entries.delete(key);
      entries.set(sending.key, { sessionId, sending });
      const failed = [...entries.values()].filter((each) => each.sending.status === 'failed');
      if (failed.length > MOST_FAILED) entries.delete(failed[0]!.sending.key);
      emit();
    },
    clear: () => entries.clear(),
    has: (key) => entries.has(key),
    remove: (key) => {
      if (entries.delete(key)) emit();
    },
  };
}

/** The message of a send as the wire carries it. Without an id of its own it gets one from its key, equal wherever it is shown. */
export function identified(input: SendInput, key: string): MessageInput {
  const written = typeof input === 'string' || Array.isArray(input) ? { content: input } : input;
  return { id: key, ...(written as MessageInput) };
}

/** A message as it will look, until the gateway's version arrives. */
export function draftMessage({ content, ...rest }: MessageInput): Message {
  return {
    role: 'user',
    createdAt: Date.now(),
    ...(rest as Partial<Message> & { readonly id: string }),
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  };
}
