import type { SessionState } from '../fold.js';
import type { ContentBlock, Message } from '../messages.js';

/** Separates the page's id of a message from the mark of an edited version. */
const VERSION = '~';

/** The id that all versions of a message begin with. */
export function baseOf(id: string): string {
  const at = id.indexOf(VERSION);
  return at > 0 ? id.slice(0, at) : id;
}

/** The id of an edited version. Its page still uses the base id. */
export function versionId(id: string, mark: string): string {
  return `${baseOf(id)}${VERSION}${mark}`;
}

/** The message of an id, or the version of it that the conversation shows. */
export function versionOf({ messages, queue }: SessionState, id: string): Message | undefined {
  const all = [...messages, ...queue.map(({ message }) => message)];
  return (
    all.find((message) => message.id === id) ?? all.findLast((message) => baseOf(message.id) === baseOf(id))
  );
}

/** Whether two messages say the same. */
export function sameContent(a: readonly ContentBlock[], b: readonly ContentBlock[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
