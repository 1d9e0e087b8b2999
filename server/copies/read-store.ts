import { parseCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { Store } from '../stores/store.js';
import type { LogHead, LogRef, MessageRow, RunRecord, SessionRef } from '../stores/stored.js';
import { COPY_FORMAT, type CopyLine, CopyTally } from './lines.js';

/** Sessions, records, rows and runs of one page. */
const PAGE = 500;
const EVENTS = 1000;
const EVENT_CHARS = 1024 * 1024;
/** Messages of a path that are read at once. */
const PATH = 200;

/**
 * All that a store keeps beside uploaded files, as lines of a copy: sessions with all their conversations, runs and keys, and records.
 *
 * @param store An open store. It may lack here what others write meanwhile.
 * @throws GatewayError `INVALID_REQUEST` for a store that can't tell its scopes
 */
export async function* copyLines(store: Store): AsyncGenerator<CopyLine> {
  if (!store.scopes) {
    const message = 'This store cannot tell what it keeps, so it cannot be copied to another one';
    throw new GatewayError({ code: 'INVALID_REQUEST', message });
  }
  const tally = new CopyTally();
  const told = (line: CopyLine): CopyLine => {
    tally.add(line);
    return line;
  };
  yield { format: COPY_FORMAT, of: 'agent-session-gateway' };
  for (const scope of [...(await store.scopes())].sort()) {
    for (let after: SessionRef | undefined; ; ) {
      const page = await store.kept(scope, { limit: PAGE, ...(after && { after }) });
      for (const ref of page) for await (const line of sessionLines(store, ref)) yield told(line);
      after = page.at(-1);
      if (!after || page.length < PAGE) break;
    }
    for await (const line of recordLines(store, { scope })) yield told(line);
  }
  yield { whole: tally.counts };
}

/** Lines of one session. */
async function* sessionLines(store: Store, ref: SessionRef): AsyncGenerator<CopyLine> {
  const epochs = await store.conversations(ref);
  for (const epoch of epochs) yield* logLines(store, { ...ref, epoch }, epoch === epochs.at(-1));
  yield* recordLines(store, ref);
}

async function* logLines(store: Store, ref: LogRef, isPresent: boolean): AsyncGenerator<CopyLine> {
  const head = await store.head(ref, ref.epoch);
  if (!head) return;
  const record = isPresent ? await store.record(ref) : null;
  const checkpoint = await store.checkpoint(ref);
  const after = head.first - 1;
  const openRuns = isPresent ? await store.openRuns(ref) : [];
  const isOpen = new Set(openRuns.map(({ runId }) => runId));
  yield {
    log: {
      ...{ ref, after, head: head.head, terms: termsFrom(head) },
      createdAt: record?.createdAt ?? 0,
      ...(record?.userId !== undefined && { userId: record.userId }),
      ...(record?.forkedFrom && { forkedFrom: record.forkedFrom }),
      ...(checkpoint && { checkpoint }),
    },
  };
  const seen = new Set<string>();
  for await (const rows of rowsOf(store, ref)) {
    for (const { runId } of rows as readonly { readonly runId?: string }[]) if (runId) seen.add(runId);
    yield { rows };
  }
  const known = new Set<string>();
  const ended = async (ids: Iterable<string>): Promise<RunRecord[]> => {
    const runs: RunRecord[] = [];
    for (const runId of ids) {
      if (known.has(runId) || isOpen.has(runId)) continue;
      known.add(runId);
      const run = await store.run(ref, { runId });
      if (run?.result && run.epoch === ref.epoch) runs.push(run);
    }
    return runs;
  };
  const early: RunRecord[] = [];
  for (const run of await ended(seen)) {
    if (endOf(run) <= after) early.push(run);
    else known.delete(run.runId);
  }
  if (early.length > 0) yield { runs: early };
  for (let at = after; at < head.head; ) {
    const events = await store.read(ref, at, EVENTS, EVENT_CHARS);
    if (events.length === 0) {
      const message = `The log ${ref.epoch} of ${ref.app}:${ref.name} in ${ref.scope} has no events behind ${at}, and should have ${head.head}`;
      throw new GatewayError({ code: 'STORE_FAILED', message, details: { reason: 'damaged' } });
    }
    const runs = await ended(new Set(events.flatMap(({ runId }) => runId ?? [])));
    if (runs.length > 0) yield { runs };
    yield { events };
    at = events.at(-1)!.seq;
  }
  const about = record && aboutIn(record);
  yield {
    end: {
      ...{ ref, closed: head.closed, activity: head.activity, openRuns },
      ...(about && !head.closed && { about: { ...about, usedAt: record.updatedAt } }),
    },
  };
}

/** Place of the end of a run. */
export const endOf = ({ result }: RunRecord): number => parseCursor(result?.cursor ?? '')?.seq ?? 0;

/** The terms that the kept events were written under. */
const termsFrom = ({ terms, first, head }: LogHead): LogHead['terms'] =>
  terms.filter((term, at) => term.first <= head && (terms[at + 1]?.first ?? first + 1) > first);

function aboutIn(record: NonNullable<Awaited<ReturnType<Store['record']>>>) {
  const { title, metadata, archived, preview, messageCount, pending, arrivals } = record;
  return {
    ...{ messageCount, pending },
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(archived && { archived }),
    ...(preview !== undefined && { preview }),
    ...(arrivals && { arrivals }),
  };
}

/** All rows of a log, each after its parent. */
async function* rowsOf(store: Store, ref: LogRef): AsyncGenerator<readonly MessageRow[]> {
  const waiting = [...(await store.replies(ref, null))];
  for (let rows: MessageRow[] = []; ; rows = []) {
    while (waiting.length > 0 && rows.length < PATH) {
      const id = waiting.shift()!;
      const [row] = await store.messages(ref, { tip: id, limit: 1 });
      if (row) rows.push(row);
      waiting.push(...(await store.replies(ref, id)));
    }
    if (rows.length === 0) return;
    yield rows;
  }
}

async function* recordLines(
  store: Store,
  home: SessionRef | { readonly scope: string },
): AsyncGenerator<CopyLine> {
  for (let after: { readonly kind: string; readonly id: string } | undefined; ; ) {
    const page = await store.records({ home, limit: PAGE, ...(after && { after }) });
    if (page.length > 0) yield { home, records: page.map(({ token: _, home: __, ...record }) => record) };
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}
