import type { Message } from '../../shared/messages.js';

/** The end of a path and its length. Without a `tip` the path is empty, without a `limit` it is whole. */
interface PathPart {
  readonly tip: string | undefined;
  readonly limit?: number;
}

/** The messages of a log that are stored apart from its events, by their ids. */
export class MessageRows {
  #rows: Map<string, Message> | null = null;

  /** Keeps messages, and replaces those with the same ids. Returns the growth in characters. */
  put(messages: readonly Message[]): number {
    if (messages.length === 0) return 0;
    this.#rows ??= new Map();
    const rows = this.#rows;
    let size = 0;
    for (const message of messages) {
      const before = rows.get(message.id);
      size += sizeOf(message) - (before ? sizeOf(before) : 0);
      rows.set(message.id, message);
      for (const other of outdated(message, (id) => rows.get(id))) {
        size += sizeOf(other) - sizeOf(rows.get(other.id)!);
        rows.set(other.id, other);
      }
    }
    return size;
  }

  /** Ids of the messages that follow one. */
  replies(parent: string | null): readonly string[] {
    for (const { id, parentId = null, versions = [id] } of this.#rows?.values() ?? [])
      if (parentId === parent) return versions;
    return [];
  }

  /** The last messages of the path to a message, oldest first. A circle, which no gateway makes, ends at the first repeated message. */
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

/** The stored versions of a message that do not list it yet, with their lists completed. */
export function outdated(
  { versions = [] }: Message,
  rowOf: (id: string) => Message | undefined,
): readonly Message[] {
  return versions.flatMap((id) => {
    const row = rowOf(id);
    return row && (row.versions?.length ?? 0) < versions.length ? [{ ...row, versions }] : [];
  });
}

/** A copy of a message for the beginning of another conversation. */
export function withoutVersions({ versions: _, ...message }: Message): Message {
  return message;
}

function sizeOf(message: Message): number {
  return JSON.stringify(message).length;
}
