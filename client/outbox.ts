import type { Message, SendInput } from '../shared/messages.js';
import { Listeners } from './listeners.js';

/** A message on its way: sent, and not yet seen in the session. */
export interface SendingMessage {
  /** The idempotency key of the send. */
  readonly key: string;
  readonly message: Message;
}

const NONE: readonly SendingMessage[] = [];

/** The sends of a client that no event has acknowledged yet, by session. Lists change by replacement. */
export class Outbox {
  readonly #lists = new Map<string, readonly SendingMessage[]>();
  readonly listeners = new Listeners();

  of(sessionId: string): readonly SendingMessage[] {
    return this.#lists.get(sessionId) ?? NONE;
  }

  add(sessionId: string, sending: SendingMessage): void {
    this.#change(sessionId, [...this.of(sessionId), sending]);
  }

  remove(sessionId: string, key: string | undefined): void {
    const list = this.of(sessionId).filter((sending) => sending.key !== key);
    if (list.length < this.of(sessionId).length) this.#change(sessionId, list);
  }

  #change(sessionId: string, list: readonly SendingMessage[]): void {
    if (list.length > 0) this.#lists.set(sessionId, list);
    else this.#lists.delete(sessionId);
    this.listeners.emit();
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
