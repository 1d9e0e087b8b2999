/** A place in the order of changes of an inbox. */
export interface InboxPlace {
  /** Everything before was told, by the store's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** Which sessions there were. */
  readonly sessions: number;
}

/** A number of 32 bits for a text. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A number for a set of sessions, whatever their order. */
export function hashOfAll(sessionIds: Iterable<string>): number {
  let all = 0;
  for (const id of sessionIds) all = (all ^ hashOf(id)) >>> 0;
  return all;
}

/** A place as clients have it. */
export const formatPlace = ({ at, sessions }: InboxPlace): string => `${at}.${sessions.toString(36)}`;

/** A place that a client has named; null where it is none. */
export function parsePlace(text: string): InboxPlace | null {
  const match = /^(\d{1,15})\.([0-9a-z]{1,7})$/.exec(text);
  return match && { at: Number(match[1]), sessions: Number.parseInt(match[2]!, 36) };
}
