import type { Message } from '../../shared/messages.js';

/** Without a `tip` nothing, without a `limit` all of it. */
interface PathPart {
  readonly tip: string | undefined;
  readonly limit?: number;
}

/** The messages of a log that are kept apart from its events, by their ids. */
export class MessageRows {
  #rows: Map<string, Message> | null = null;

  /** Keeps messages; one that is there is replaced. Returns by how many characters they grow it. */
  put(messages: readonly Message[]): number {
    if (messages.length === 0) return 0;
    this.#rows ??= new Map();
    const rows = this.#rows;
    let size = 0;
    for (const message of messages) {
      const before = rows.get(message.id);
      size += sizeOf(message) - (before ? sizeOf(before) : 0);
      rows.set(message.id, message);
    }
    return size;
  }

  /** The last messages of the path to one, oldest first. A circle, which no gateway makes, ends where it closes. */
  path({ tip, limit = Number.POSITIVE_INFINITY }: PathPart): readonly Message[] {
    const path = new Set<Message>();
    for (let id: string | null | undefined = tip; id != null && path.size < limit; ) {
      const message: Message | undefined = this.#rows?.get(id);
      if (!message || path.has(message)) break;
      path.add(message);
      id = message.parentId;
    }
    return [...path].reverse();
  }
}

function sizeOf(message: Message): number {
  return JSON.stringify(message).length;
}
