import { randomUUID } from 'node:crypto';
import { cut } from '../../../shared/cut.js';
import { digestOf } from '../../ids.js';
import { nameIn } from '../conversation/app-names.js';

const KEPT = 'resp-';
const TEMPORARY = 'tmp-resp-';
const CONVERSATION = 'conv_';

/** The name of a session that a response begins. @param key Idempotency key of the request. A retry leads to the same session */
export function newSessionName(isKept: boolean, key: string | undefined): string {
  return `${isKept ? KEPT : TEMPORARY}${key === undefined ? randomUUID() : digest(key)}`;
}

/** Whether a session was begun by a response, and not by its caller. */
export function isGenerated(sessionId: string): boolean {
  return nameIn(sessionId).startsWith(KEPT);
}

/** Whether a session belongs to a response with `store: false`, which no id may name. */
export function isTemporary(sessionId: string): boolean {
  return nameIn(sessionId).startsWith(TEMPORARY);
}

/** The id of a new conversation, which contains its time and is the name of its session. */
export function newConversationId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${CONVERSATION}${time}${cut(randomUUID().replaceAll('-', ''), 20)}`;
}

/** Time at which a conversation began, in milliseconds since the epoch; null if the caller chose its id. */
export function conversationBegan(id: string): number | null {
  const [, time] = /^conv_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id) ?? [];
  return time === undefined ? null : Number.parseInt(time, 16);
}

/** A short hash of a text. */
export function digest(text: string): string {
  return cut(digestOf(text), 32);
}
