/** A place in the order of changes of an inbox. */
export interface InboxPlace {
  /** Time up to which every change was sent, by the store's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** Hash of the ids of all sessions in the inbox at that time. */
  readonly sessions: number;
}

/** A 32-bit hash of a text. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A hash of a set of sessions, independent of their order. */
export function hashOfAll(sessionIds: Iterable<string>): number {
  let all = 0;
  for (const id of sessionIds) all = (all ^ hashOf(id)) >>> 0;
  return all;
}

/** The text of a place, for clients. */
export const formatPlace = ({ at, sessions }: InboxPlace): string => `${at}.${sessions.toString(36)}`;

/** Reads a client's text of a place; null if it is malformed. */
export function parsePlace(text: string): InboxPlace | null {
  const match = /^(\d{1,15})\.([0-9a-z]{1,7})$/.exec(text);
  return match && { at: Number(match[1]), sessions: Number.parseInt(match[2]!, 36) };
}
