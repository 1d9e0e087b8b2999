import { createHash, randomUUID } from 'node:crypto';

const KEPT = 'resp-';
const TEMPORARY = 'tmp-resp-';
const CONVERSATION = 'conv_';

/** The name of a session that a response begins. @param key Of a request that may come again, and means the same session then */
export function newSessionName(isKept: boolean, key: string | undefined): string {
  return `${isKept ? KEPT : TEMPORARY}${key === undefined ? randomUUID() : digest(key)}`;
}

/** Whether a session was begun by a response, and not by its caller. */
export function isGenerated(sessionId: string): boolean {
  return nameIn(sessionId).startsWith(KEPT);
}

/** Whether a session is one that is not stored: nothing of it can be named. */
export function isTemporary(sessionId: string): boolean {
  return nameIn(sessionId).startsWith(TEMPORARY);
}

/** The id of a new conversation, which is the name of its session, and says when it began. */
export function newConversationId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${CONVERSATION}${time}${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}

/** When a conversation began, in milliseconds since the epoch; null where its id is of its caller's making. */
export function conversationBegan(id: string): number | null {
  const [, time] = /^conv_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id) ?? [];
  return time === undefined ? null : Number.parseInt(time, 16);
}

/** A short text for one of any length. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}

function nameIn(sessionId: string): string {
  return sessionId.slice(sessionId.indexOf(':') + 1);
}
