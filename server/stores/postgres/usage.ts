import type { SessionRef, StoredSize } from '../stored.js';
import { toColumn } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import type { SessionIds } from './sessions.js';

/** Up to so many logs of a scope are added up each time. A larger total is kept for a while: a millisecond for every ten logs. */
const FEW = 1000;
const SCOPES = 10_000;

interface PostgresTotal {
  readonly size: number;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** The size of sessions and scopes. */
export class PostgresUsage {
  readonly #database: PostgresDatabase;
  readonly #sessions: SessionIds;
  readonly #totals = new Map<string, PostgresTotal>();

  constructor(database: PostgresDatabase, sessions: SessionIds) {
    this.#database = database;
    this.#sessions = sessions;
  }

  async of(ref: SessionRef): Promise<StoredSize> {
    const known = this.#totals.get(ref.scope);
    const key = this.#sessions.keyOf(ref);
    if (known && known.until > performance.now())
      return { session: await this.#session(key), scope: known.size };
    const query = `SELECT coalesce(sum(l.size) FILTER (WHERE s.key = $2), 0)::bigint AS session,
      coalesce(sum(l.size), 0)::bigint AS scope, count(*) AS logs
      FROM $S.session s JOIN $S.log l ON l.session = s.id WHERE s.scope = $1`;
    const row = (await this.#database.first(query, toColumn(ref.scope), key))!;
    this.#keep(ref.scope, row.scope as number, row.logs as number);
    return { session: row.session as number, scope: row.scope as number };
  }

  #keep(scope: string, size: number, logs: number): void {
    this.#totals.delete(scope);
    if (logs <= FEW) return;
    if (this.#totals.size >= SCOPES) this.#totals.clear();
    this.#totals.set(scope, { size, until: performance.now() + logs / 10 });
  }

  async #session(key: string): Promise<number> {
    const query = `SELECT coalesce(sum(l.size), 0)::bigint AS size
      FROM $S.session s JOIN $S.log l ON l.session = s.id WHERE s.key = $1`;
    return (await this.#database.first(query, key))!.size as number;
  }
}
