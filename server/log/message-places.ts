import type { Message } from '../../shared/messages.js';
import type { MessagePlace, MessageRow } from '../stores/stored.js';
import type { LogView } from './log-view.js';

/** The name of the branch that begins with the first message of a log. */
const FIRST_BRANCH = '';

/** A stored message without its place. */
export function messageOf({ depth: _, branch: __, ...message }: MessageRow): Message {
  return message;
}

/** A message as a row of a conversation that has no branches yet. @param depth Number of messages up to it */
export function unbranched({ versions: _, ...message }: Message, depth: number): MessageRow {
  return { ...message, depth, branch: FIRST_BRANCH };
}

/** Messages as rows. Their places follow from those of the rows that they are behind. */
export async function placed(
  log: Pick<LogView, 'storedPlace'>,
  messages: readonly Message[],
): Promise<readonly MessageRow[]> {
  const known = new Map(messages.map((message) => [message.id, message]));
  const rows = new Map<string, MessageRow>();
  const placeOf = async ({ id, parentId = null, versions = [id] }: Message): Promise<MessagePlace> => {
    const before = parentId === null ? null : (rows.get(parentId) ?? (await log.storedPlace(parentId)));
    // The first reply continues the branch. A message whose parent is lost begins one.
    const continues = versions[0] === id && (parentId === null || before !== null);
    return { depth: (before?.depth ?? 0) + 1, branch: continues ? (before?.branch ?? FIRST_BRANCH) : id };
  };
  for (const message of messages) {
    const path = new Set<Message>();
    for (let at: Message | undefined = message; at && !rows.has(at.id) && !path.has(at); ) {
      path.add(at);
      at = at.parentId == null ? undefined : known.get(at.parentId);
    }
    for (const each of [...path].reverse()) rows.set(each.id, { ...each, ...(await placeOf(each)) });
  }
  return messages.map(({ id }) => rows.get(id)!);
}

/** Whether the path that ends at one place leads through another. Reads two rows for each branch on it, however long they are. */
export async function leadsThrough(
  log: Pick<LogView, 'storedMessages' | 'storedPlace'>,
  end: MessagePlace | null,
  asked: MessagePlace,
): Promise<boolean> {
  let place = end;
  while (place && place.branch !== asked.branch) place = await placeBefore(log, place);
  return place !== null && asked.depth <= place.depth;
}

/** The place just before a branch; null if nothing is before it. */
async function placeBefore(
  log: Pick<LogView, 'storedMessages' | 'storedPlace'>,
  { branch, depth }: MessagePlace,
): Promise<MessagePlace | null> {
  if (branch === FIRST_BRANCH) return null;
  const [first] = await log.storedMessages(branch, 1);
  const before = first?.parentId == null ? null : await log.storedPlace(first.parentId);
  // Only a circle, which no gateway makes, leads further down.
  return before && before.depth < depth ? before : null;
}
