import type { GatewayError } from '../shared/gateway-error.js';
import type { Message, MessageInput, SendInput } from '../shared/messages.js';
import { Listeners } from './listeners.js';

/** Failed sends a client remembers, for somebody to repeat or discard. */
const MOST_FAILED = 100;

/** A message on its way: sent, and not yet seen in the session. */
export interface SendingMessage {
  /** The idempotency key of the send. */
  readonly key: string;
  /** Its id is the one it will have in the session. */
  readonly message: Message;
  /** `failed`: it was not accepted, and is not tried any more. */
  readonly status: 'sending' | 'failed';
  /** Why it failed, or what the last of its attempts met. */
  readonly error?: GatewayError;
  /** Tries again at once, under the same key: whatever became of it before, there is one run. */
  readonly retry: () => void;
  /** Gives it up, and shows it no more. */
  readonly discard: () => void;
}

interface Entry {
  readonly sessionId: string;
  sending: SendingMessage;
  isAccepted: boolean;
}

/** The sends of a client that its sessions do not show yet. */
export class Outbox {
  readonly #entries = new Map<string, Entry>();
  readonly listeners = new Listeners();
  /** Changes with every change. */
  version = 0;

  /** @param isSame Whether two spellings name one session. */
  of(isSame: (sessionId: string) => boolean): SendingMessage[] {
    return [...this.#entries.values()]
      .filter(({ sessionId }) => isSame(sessionId))
      .map(({ sending }) => sending);
  }

  set(sessionId: string, sending: SendingMessage): void {
    const entry = this.#entries.get(sending.key);
    if (entry) entry.sending = sending;
    else this.#entries.set(sending.key, { sessionId, sending, isAccepted: false });
    const failed = [...this.#entries.values()].filter((each) => each.sending.status === 'failed');
    if (failed.length > MOST_FAILED) this.#entries.delete(failed[0]!.sending.key);
    this.#changed();
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** It was accepted: whoever shows the session shows it until it is there, and nobody else has to. */
  accepted(key: string, isShown: boolean): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.isAccepted = true;
    if (!isShown) this.remove(key);
  }

  remove(key: string): void {
    if (this.#entries.delete(key)) this.#changed();
  }

  /** Nobody shows the session any more. */
  forget(isSame: (sessionId: string) => boolean): void {
    for (const [key, { sessionId, isAccepted }] of this.#entries)
      if (isAccepted && isSame(sessionId)) this.#entries.delete(key);
  }

  #changed(): void {
    this.version += 1;
    this.listeners.emit();
  }
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
