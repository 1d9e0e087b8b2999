import {
  homeOf,
  type RecordChange,
  type RecordHome,
  type RecordQuery,
  recordWith,
  type StoredRecord,
  type Taken,
  type TakeOptions,
  Tokens,
  textOfHome,
} from '../records.js';
import { fromColumn, toColumn, toNullable } from '../text-column.js';
import type { SqliteConnection } from './connection.js';
import type { SqliteRow } from './driver.js';
import type { Statements } from './statements.js';

/** Typed rows beside the logs. */
export class SqliteRecords {
  readonly #connection: SqliteConnection;
  readonly #sql: Statements;
  readonly #tokens = new Tokens();

  constructor(connection: SqliteConnection, sql: Statements) {
    this.#connection = connection;
    this.#sql = sql;
  }

  /** Whether all of these changes may be made. */
  allows(home: RecordHome, changes: readonly RecordChange[]): boolean {
    const text = textOfHome(home);
    return changes.every(
      ({ kind, id, token }) => token === undefined || this.#tokenOf(text, kind, id) === token,
    );
  }

  #tokenOf(home: string, kind: string, id: string): number {
    return (this.#sql.record.get(home, toColumn(kind), toColumn(id))?.token as number | undefined) ?? 0;
  }

  /** Makes changes that are allowed, within a transaction. */
  change(home: RecordHome, changes: readonly RecordChange[]): void {
    const text = textOfHome(home);
    for (const { kind, id, owner, dueAt = null, value } of changes) {
      const name = [toColumn(kind), toColumn(id)] as const;
      if (value === undefined) this.#sql.dropRecord.run(text, ...name);
      else {
        const token = this.#tokens.after(this.#tokenOf(text, kind, id));
        this.#sql.putRecord.run(text, ...name, toNullable(owner), dueAt, token, value);
      }
    }
  }

  list(query: RecordQuery): readonly StoredRecord[] {
    if (query.id !== undefined)
      return this.#sql.record
        .all(textOfHome(query.home), toColumn(query.kind), toColumn(query.id))
        .map(recordOf);
    const { limit } = query;
    const kind = toNullable(query.kind);
    if ('home' in query) {
      const after = [toColumn(query.after?.kind ?? ''), toColumn(query.after?.id ?? '')] as const;
      return this.#sql.recordsOfHome.all(textOfHome(query.home), ...after, kind, limit).map(recordOf);
    }
    const after = query.after ? [textOfHome(query.after.home), toColumn(query.after.id)] : ['', ''];
    return this.#sql.recordsOfOwner.all(toColumn(query.owner), kind, ...after, limit).map(recordOf);
  }

  /** Takes due records. A loss of power may forget that they were taken; they are then due again. */
  take({ limit, leaseMs, aheadMs = 0 }: TakeOptions): Taken {
    const now = Date.now() + aheadMs;
    const first = this.#nextAt();
    if (first === null || first > now) return { records: [], nextAt: first, now };
    return this.#connection.transaction(() => {
      const records = this.#sql.recordsDue.all(now, limit).map((row) => {
        const record = recordOf(row);
        const token = this.#tokens.after(record.token);
        this.#sql.takeRecord.run(now + leaseMs, token, row.home!, row.kind!, row.id!);
        return { ...record, token };
      });
      return { records, nextAt: this.#nextAt(), now };
    });
  }

  #nextAt(): number | null {
    return (this.#sql.nextDue.get()?.due as number | null | undefined) ?? null;
  }
}

function recordOf(row: SqliteRow): StoredRecord {
  const { home, kind, id, value, token } = row as unknown as Pick<
    StoredRecord,
    'kind' | 'id' | 'value' | 'token'
  > & {
    readonly home: string;
  };
  return recordWith(
    { home: homeOf(home), kind: fromColumn(kind), id: fromColumn(id), value, token },
    row.owner === null ? null : fromColumn(row.owner as string),
    row.due as number | null,
  );
}
