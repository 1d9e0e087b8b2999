/** A place in a log: everything up to and including `seq` has been seen. Opaque to users; only the gateway and the SDK look inside. */
export interface Cursor {
  /** 64 random bits, base64url: one incarnation of a session's log. */
  readonly epoch: string;
  /** Fencing token of the writer that wrote `seq`. */
  readonly term: number;
  readonly seq: number;
}

const CURSOR = /^([A-Za-z0-9_-]{11})\.(\d{1,16})\.(\d{1,16})$/;

/** Writes a cursor. */
export function formatCursor(epoch: string, term: number, seq: number): string {
  return `${epoch}.${term}.${seq}`;
}

/** Reads a cursor; null when it is not one. Linear in its input. */
export function parseCursor(text: string): Cursor | null {
  const match = CURSOR.exec(text);
  if (!match) return null;
  const term = Number(match[2]);
  const seq = Number(match[3]);
  return Number.isSafeInteger(term) && Number.isSafeInteger(seq) ? { epoch: match[1]!, term, seq } : null;
}

/** Writes a place in the history of a conversation: just before a message. */
export function formatHistoryCursor(epoch: string, messageId: string): string {
  return `${epoch}.${messageId}`;
}

/** Reads a place in a history; null when it is not one. */
export function parseHistoryCursor(
  text: string,
): { readonly epoch: string; readonly messageId: string } | null {
  const match = /^([A-Za-z0-9_-]{11})\.(.+)$/s.exec(text);
  return match && { epoch: match[1]!, messageId: match[2]! };
}

/** Marks a vector: the cursors of several sessions in one SSE id. No cursor contains it. */
const VECTOR_MARK = '~';

/** Stands in a vector for the sessions that had no room in it. No session has this name, and it is no cursor. */
export const UNNAMED = '*';

/** Joins the cursors of several sessions, so that a native EventSource resumes all of them. */
export function formatVector(cursors: Iterable<readonly [sessionId: string, cursor: string]>): string {
  let text = VECTOR_MARK;
  for (const [id, cursor] of cursors) text += `${text === VECTOR_MARK ? '' : ','}${id}=${cursor}`;
  return text;
}

/** Reads a vector; null when the text is not one. */
export function parseVector(text: string): Map<string, string> | null {
  if (!text.startsWith(VECTOR_MARK)) return null;
  const cursors = new Map<string, string>();
  for (const pair of text.slice(1).split(',')) {
    const at = pair.indexOf('=');
    if (at > 0) cursors.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return cursors;
}
