import { nextTurn } from '../../async/turn.js';
import type { LogView } from '../../log/log-view.js';
import { shownBefore } from '../../log/message-tree.js';
import { saidInMessages } from '../../log/said.js';
import { isWithinTime, keptText, type SaidHit, type SaidPage, type SaidQuery } from '../../stores/said.js';
import type { Store } from '../../stores/store.js';
import type { LogRef, SessionRecord, SessionRef } from '../../stores/stored.js';
import { hasWords, wordsText } from '../../stores/words.js';

/** Sessions of a scope that one call reads. */
const SESSIONS = 20;

interface Readable {
  readonly store: Pick<Store, 'list' | 'record'>;
  /** The log of a session that is open. @throws GatewayError `SESSION_NOT_FOUND` */
  logOf(ref: SessionRef): Promise<LogView>;
}

/**
 * Searches a store without an index: reads its conversations, those that were used last first, so many with each call, and of each the last thousand
 * messages.
 */
export async function readConversations({ store, logOf }: Readable, query: SaidQuery): Promise<SaidPage> {
  const { within, words, before = Number.MAX_SAFE_INTEGER } = query;
  const found: SessionRecord[] = [];
  let oldest = 0;
  for (const each of within) {
    if (each.epoch !== undefined) {
      const record = await store.record(each as LogRef);
      if (record?.epoch === each.epoch && !record.closed && record.updatedAt < before) found.push(record);
      continue;
    }
    for (const archived of [false, true]) {
      const page = { limit: SESSIONS, before: { updatedAt: before, ordinal: 0 } };
      const { records, next } = await store.list(each.scope, page, { archived });
      found.push(...records.filter(({ ref }) => each.app === undefined || ref.app === each.app));
      if (next) oldest = Math.max(oldest, next.updatedAt);
    }
  }
  const hits: SaidHit[] = [];
  for (const record of found) {
    if (record.updatedAt < oldest) continue;
    await nextTurn();
    for (const said of await saidIn(logOf, record))
      if (isWithinTime(said, query) && hasWords(wordsText(said.text), words)) hits.push(said);
  }
  return { hits: hits.sort((a, b) => b.place - a.place || b.at - a.at), next: oldest > 0 ? oldest : null };
}

async function saidIn(
  logOf: Readable['logOf'],
  { ref, epoch, updatedAt: place }: SessionRecord,
): Promise<readonly SaidHit[]> {
  const log = await logOf(ref).catch(() => null);
  if (log?.ref.epoch !== epoch) return [];
  const { messages, tip } = await log.folded();
  if (tip === null) return [];
  const shown = [...(await shownBefore(log, tip))(), ...messages.slice(-1)];
  const { head: seq } = log;
  return saidInMessages(shown).map(({ depth: _, ...said }) => ({
    ...said,
    ...{ text: keptText(said.text), ref, epoch, seq, term: log.termAt(seq), place },
  }));
}
