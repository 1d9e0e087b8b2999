import type { RunResult } from '../../../shared/operation-types.js';
import { ABOUT_NOTHING } from '../about.js';
import type { NewSession } from '../store.js';
import type { LogHead, MessageRow, RunRecord, SessionRecord, SessionRef } from '../stored.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { PostgresRow } from './driver.js';

/** The columns that `headOf` and `recordOf` read, of a log `l` and its session `s`. */
export const LOG = `l.id, l.session, l.epoch, l.user_id, l.created, l.closed, l.first, l.head, l.term, array_to_json(l.terms) AS terms,
  l.activity, s.scope, s.app, s.name, s.used, s.about, s.forked_from`;

export const RUN = 'r.run_id, r.key, r.hash, r.epoch, r.accepted, r.request, r.result, r.cursor';

export const refOf = ({ scope, app, name }: PostgresRow): SessionRef => ({
  scope: fromColumn(scope),
  app: fromColumn(app),
  name: fromColumn(name),
});

export function headOf(row: PostgresRow): LogHead {
  const pairs = row.terms as number[];
  const terms = pairs.flatMap((term, i) => (i % 2 === 0 ? [{ term, first: pairs[i + 1]! }] : []));
  const { epoch, first, head, closed } = row;
  const term = terms.at(-1)!.term;
  return { epoch, term, first, head, terms, closed: closed !== null, activity: JSON.parse(row.activity) };
}

export function recordOf(row: PostgresRow): SessionRecord {
  const { epoch, created, used, closed, about, forked_from: forkedFrom, user_id: userId } = row;
  return {
    ref: refOf(row),
    epoch,
    createdAt: created,
    updatedAt: used,
    closed: closed !== null,
    ...JSON.parse(about),
    activity: JSON.parse(row.activity),
    ...(forkedFrom !== null && { forkedFrom: JSON.parse(forkedFrom) }),
    ...(userId !== null && { userId: fromColumn(userId) }),
  };
}

/** The beginning of a session as `acquire` takes it. */
export function beginningOf({ epoch, userId, forkedFrom, copied }: NewSession): string {
  return JSON.stringify({
    epoch,
    about: JSON.stringify(ABOUT_NOTHING),
    ...copied,
    ...(userId !== undefined && { userId: toColumn(userId) }),
    ...(forkedFrom && { forkedFrom: JSON.stringify(forkedFrom) }),
  });
}

export function runOf(row: PostgresRow): RunRecord {
  const { run_id, key, hash, epoch, accepted, request, result, cursor } = row;
  return {
    runId: fromColumn(run_id),
    ...(key !== null && { key: fromColumn(key), hash: hash ?? '' }),
    epoch,
    accepted,
    ...(request !== null && { request }),
    ...(result !== null && { result: { ...(JSON.parse(result) as RunResult), cursor } }),
  };
}

/** A message as a row: its versions, which change by themselves, are apart from the rest. */
function toRow({ versions, ...message }: MessageRow) {
  const data = JSON.stringify(message);
  const { id, parentId = null } = message;
  const row = {
    id: toColumn(id),
    parent: parentId === null ? null : toColumn(parentId),
    size: data.length,
    data,
  };
  if (!versions) return row;
  const text = JSON.stringify(versions);
  return {
    ...row,
    versions: text,
    version_count: versions.length,
    version_size: ',"versions":'.length + text.length,
    versionIds: versions.map(toColumn),
  };
}

/** Messages as the parameters of `put_messages`: the last row of each id, and the ids of all rows that change. */
export function messagesToPut(messages: readonly MessageRow[]) {
  const rows = [...new Map(messages.map((message) => [message.id, toRow(message)])).values()];
  const touched = new Set(rows.flatMap((row) => [row.id, ...('versionIds' in row ? row.versionIds : [])]));
  return { messages: rows, touched: [...touched] };
}

export function messageOf({ data, versions }: PostgresRow): MessageRow {
  const message = JSON.parse(data) as MessageRow;
  return versions === null ? message : { ...message, versions: JSON.parse(versions) };
}
