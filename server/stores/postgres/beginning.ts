import { aboutOf, PREVIEWED, searched } from '../about.js';
import { withoutVersions } from '../message-rows.js';
import { firstCheckpoint, type NewSession } from '../store.js';
import type { PostgresReader } from './reader.js';
import { toMessageRow } from './rows.js';
import type { SessionIds } from './sessions.js';
import { toColumn } from './text.js';

/** The beginning of a session as `acquire` takes it, prepared from the present state of the log that it copies. */
export async function beginningOf(
  { epoch, userId, from, title, metadata, forkedFrom }: NewSession,
  { reader, sessions }: { readonly reader: PostgresReader; readonly sessions: SessionIds },
): Promise<string> {
  const { log, tip, messages = [] } = from ?? {};
  const source = log && tip !== undefined ? await sessions.idOf(log) : null;
  const copied = source === null ? 0 : await reader.pathLength(log!, tip!);
  const own = messages.map(withoutVersions);
  const checkpoint = firstCheckpoint({
    tip: own.at(-1)?.id ?? (copied > 0 ? tip : undefined),
    messageCount: copied + own.length,
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
  });
  const missing = PREVIEWED - own.length;
  const before = copied > 0 && missing > 0 ? await reader.messages(log!, { tip: tip!, limit: missing }) : [];
  return JSON.stringify({
    epoch,
    ...(userId !== undefined && { userId: toColumn(userId) }),
    ...(forkedFrom && { forkedFrom: JSON.stringify(forkedFrom) }),
    ...(title !== undefined && { searched: toColumn(searched(title)) }),
    about: JSON.stringify(aboutOf({ ...checkpoint.state, messages: [...before, ...own] })),
    ...((from || title !== undefined || metadata) && { checkpoint: JSON.stringify(checkpoint) }),
    ...(copied > 0 && { source, tip: toColumn(tip!), copied }),
    ...(own.length > 0 && { messages: byId(own.map(toMessageRow)) }),
  });
}

/** The last entry of each id. */
export function byId<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
