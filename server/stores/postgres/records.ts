import {
  type ChangeOptions,
  type RecordChange,
  type RecordHome,
  type RecordName,
  type RecordQuery,
  recordWith,
  type StoredRecord,
  type Taken,
  type TakeOptions,
} from '../records.js';
import { fromColumn, toColumn, toNullable } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import type { PostgresRow } from './driver.js';
import type { SessionIds } from './sessions.js';

const COLUMNS = 'kind, id, scope, app, name, owner, due, token, value';

/** Typed rows beside the logs. */
export class PostgresRecords {
  readonly #database: PostgresDatabase;
  readonly #sessions: SessionIds;

  constructor(database: PostgresDatabase, sessions: SessionIds) {
    this.#database = database;
    this.#sessions = sessions;
  }

  async change(
    home: RecordHome,
    changes: readonly RecordChange[],
    { mayRepeat = false }: ChangeOptions = {},
  ): Promise<boolean> {
    const named = Object.values(homeRow(home, this.#sessions.keyOf(home)));
    const rows = JSON.stringify(changes.map(toRow));
    if (!mayRepeat) return this.#database.call('change_records', ...named, rows);
    const [changed] = await this.#database.change(
      "SELECT set_config('synchronous_commit', 'off', true), $S.change_records($1, $2, $3, $4, $5) AS answer",
      ...named,
      rows,
    );
    return changed!.answer as boolean;
  }

  async list(query: RecordQuery): Promise<readonly StoredRecord[]> {
    const rows =
      query.id !== undefined
        ? this.#named(query.home, query)
        : 'home' in query
          ? this.#ofHome(query)
          : this.#ofOwner(query);
    return (await rows).map(recordOf);
  }

  #named(home: RecordHome, { kind, id }: RecordName): Promise<PostgresRow[]> {
    const query = `SELECT ${COLUMNS} FROM $S.record WHERE home = $1 AND kind = $2 AND id = $3`;
    return this.#database.ask(query, this.#sessions.keyOf(home), toColumn(kind), toColumn(id));
  }

  #ofHome({
    home,
    kind,
    after,
    limit,
  }: Extract<RecordQuery, { readonly home: RecordHome }>): Promise<PostgresRow[]> {
    const query = `SELECT ${COLUMNS} FROM $S.record WHERE home = $1 AND ($2::text IS NULL OR kind = $2) AND (kind, id) > ($3, $4)
      ORDER BY kind, id LIMIT $5`;
    const from = [toColumn(after?.kind ?? ''), toColumn(after?.id ?? '')];
    return this.#database.ask(query, this.#sessions.keyOf(home), toNullable(kind), ...from, limit);
  }

  #ofOwner({
    owner,
    kind,
    after,
    limit,
  }: Extract<RecordQuery, { readonly owner: string }>): Promise<PostgresRow[]> {
    const query = `SELECT ${COLUMNS} FROM $S.record WHERE owner = $1 AND kind = $2 AND (home, id) > ($3, $4)
      ORDER BY home, id LIMIT $5`;
    const from = [after ? this.#sessions.keyOf(after.home) : '', toColumn(after?.id ?? '')];
    return this.#database.ask(query, toColumn(owner), toColumn(kind), ...from, limit);
  }

  async take({ limit, leaseMs, aheadMs = 0 }: TakeOptions): Promise<Taken> {
    const rows = await this.#database.change(
      `SELECT ${COLUMNS} FROM $S.take_due($1, $2, $3)`,
      limit,
      Math.ceil(leaseMs),
      Math.round(aheadMs),
    );
    const { due, token: now } = rows.pop()!;
    return { records: rows.map(recordOf), nextAt: due as number | null, now: now as number };
  }
}

/** A home in columns. @param key The hash of its name */
export const homeRow = ({ scope, app, name }: RecordHome, key: string) => ({
  home: key,
  scope: toColumn(scope),
  app: toNullable(app),
  name: toNullable(name),
});

export const toRow = ({ kind, id, owner, dueAt, value, token }: RecordChange) => ({
  kind: toColumn(kind),
  id: toColumn(id),
  owner: toNullable(owner),
  due: dueAt === undefined ? null : Math.round(dueAt),
  value: value ?? null,
  token: token ?? null,
});

function recordOf({ scope, app, name, kind, id, owner, due, token, value }: PostgresRow): StoredRecord {
  const home =
    app === null
      ? { scope: fromColumn(scope) }
      : { scope: fromColumn(scope), app: fromColumn(app), name: fromColumn(name) };
  return recordWith(
    { home, kind: fromColumn(kind), id: fromColumn(id), value, token },
    owner === null ? null : fromColumn(owner),
    due,
  );
}
