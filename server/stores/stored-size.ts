import type { Message } from '../../shared/messages.js';

/** Size of events, in characters of their bodies. */
export function sizeOf(events: readonly { readonly body: string }[]): number {
  let size = 0;
  for (const { body } of events) size += body.length;
  return size;
}

/** Size of messages, in characters of their JSON. */
export function sizeOfMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
}
