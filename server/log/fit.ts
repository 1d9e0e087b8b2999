import type { Message } from '../../shared/messages.js';

// A message is measured once, however many pages and snapshots contain it.
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  let size = sizes.get(message);
  if (size === undefined) {
    size = Buffer.byteLength(JSON.stringify(message));
    sizes.set(message, size);
  }
  return size;
}

/** The last messages that fit a size, but at least one if there is any, and the remaining room. */
export function lastThatFit(
  messages: readonly Message[],
  bytes: number,
  atLeast = 1,
): { readonly messages: readonly Message[]; readonly room: number } {
  let room = bytes;
  let at = messages.length;
  while (at > 0) {
    const size = sizeOf(messages[at - 1]!);
    if (size > room && messages.length - at >= atLeast) break;
    room -= size;
    at -= 1;
  }
  return { messages: messages.slice(at), room };
}
