import type { Message, SendInput } from '../shared/messages.js';
import { Listeners } from './listeners.js';

/** A message on its way: sent, and not yet seen in the session. */
export interface SendingMessage {
  /** The idempotency key of the send. */
  readonly key: string;
  readonly message: Message;
}

/** The sends of a client that no event has acknowledged yet. */
export class Outbox {
  readonly #sessionIds = new Map<SendingMessage, string>();
  readonly listeners = new Listeners();

  of(sessionId: string): SendingMessage[] {
    return [...this.#sessionIds.keys()].filter((sending) => this.#sessionIds.get(sending) === sessionId);
  }

  add(sessionId: string, sending: SendingMessage): void {
    this.#sessionIds.set(sending, sessionId);
    this.listeners.emit();
  }

  remove(sending: SendingMessage): void {
    if (this.#sessionIds.delete(sending)) this.listeners.emit();
  }
}

/** A message as it will look, until the gateway says how it does. Without an id of its own it is known by its key. */
export function draftMessage(input: SendInput, key: string): Message {
  const written = typeof input === 'string' || Array.isArray(input) ? { content: input } : input;
  const { content, ...rest } = written as Exclude<SendInput, string | readonly unknown[]>;
  return {
    id: key,
    role: 'user',
    createdAt: Date.now(),
    ...(rest as Partial<Message>),
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  };
}
