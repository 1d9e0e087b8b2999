import type { Message } from '../../shared/messages.js';

/** Messages with every version that any of them knows. */
export function withVersions(
  messages: readonly Message[],
  others: readonly Message[] = messages,
): readonly Message[] {
  const known = new Map<string, readonly string[]>();
  for (const { versions = [] } of others)
    for (const id of versions) known.set(id, longest([known.get(id) ?? [], versions]));
  return messages.map((message) => {
    const versions = known.get(message.id) ?? [];
    return versions.length > (message.versions?.length ?? 0) ? { ...message, versions } : message;
  });
}

/** The longest of several lists. */
export function longest(lists: readonly (readonly string[])[]): readonly string[] {
  return lists.reduce((best, list) => (list.length > best.length ? list : best), []);
}
