import type { PathOptions } from './store.js';
import type { MessageRow } from './stored.js';

/** The messages of a log that are stored apart from its events, by their ids. */
export class MessageRows {
  #rows: Map<string, MessageRow> | null = null;
  /** Id of the first reply to each message, and of the first message. */
  #replies: Map<string | null, string> | null = null;

  /** Keeps messages, and replaces those with the same ids. Returns the growth in characters. */
  put(messages: readonly MessageRow[]): number {
    if (messages.length === 0) return 0;
    this.#rows ??= new Map();
    this.#replies ??= new Map();
    const [rows, replies] = [this.#rows, this.#replies];
    let size = 0;
    for (const message of messages) {
      const before = rows.get(message.id);
      size += sizeOf(message) - (before ? sizeOf(before) : 0);
      rows.set(message.id, message);
      const { parentId = null } = message;
      if (!replies.has(parentId)) replies.set(parentId, message.id);
      for (const other of outdated(message, (id) => rows.get(id))) {
        size += sizeOf(other) - sizeOf(rows.get(other.id)!);
        rows.set(other.id, other);
      }
    }
    return size;
  }

  /** Ids of the messages that follow one. */
  replies(parent: string | null): readonly string[] {
    const id = this.#replies?.get(parent);
    if (id === undefined) return [];
    return this.#rows!.get(id)!.versions ?? [id];
  }

  /** The last messages of the path to a message, oldest first. A circle, which no gateway makes, ends at the first repeated message. */
  path({ tip, limit }: PathOptions): readonly MessageRow[] {
    const path = new Set<MessageRow>();
    for (let id: string | null | undefined = tip; id != null && path.size < limit; ) {
      const message: MessageRow | undefined = this.#rows?.get(id);
      if (!message || path.has(message)) break;
      path.add(message);
      id = message.parentId;
    }
    return [...path].reverse();
  }
}

/** The stored versions of a message that do not list it yet, with their lists completed. */
export function outdated(
  { versions = [] }: MessageRow,
  rowOf: (id: string) => MessageRow | undefined,
): readonly MessageRow[] {
  return versions.flatMap((id) => {
    const row = rowOf(id);
    return row && (row.versions?.length ?? 0) < versions.length ? [{ ...row, versions }] : [];
  });
}

function sizeOf(message: MessageRow): number {
  return JSON.stringify(message).length;
}
