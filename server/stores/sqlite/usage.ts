import type { SessionRef, StoredSize } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { toColumn } from '../text-column.js';
import type { LiveLogs } from './live-logs.js';
import type { LogState } from './log-state.js';
import type { Statements } from './statements.js';

/** The number of scopes whose totals are remembered. Beyond it, all totals are forgotten and counted anew on demand. */
const SCOPES = 10_000;

/** The size of sessions and scopes. A scope's total is read once and then kept up to date, since nobody else writes the file. */
export class SqliteUsage {
  readonly #sql: Statements;
  readonly #live: LiveLogs;
  readonly #scopes = new Map<string, number>();

  constructor(sql: Statements, live: LiveLogs) {
    this.#sql = sql;
    this.#live = live;
  }

  /** @param session Id of the session, if it is known. */
  of(ref: SessionRef, session: number | undefined): StoredSize {
    const tail = this.#live.get(ref)?.tail ?? [];
    const kept = session === undefined ? 0 : Number(this.#sql.sizeOfSession.get(session)?.n ?? 0);
    return { session: kept + sizeOf(tail), scope: this.#scope(ref.scope) };
  }

  #scope(scope: string): number {
    const known = this.#scopes.get(scope);
    if (known !== undefined) return known;
    let size = Number(this.#sql.sizeOfScope.get(toColumn(scope))?.n ?? 0);
    for (const log of this.#live.unchunked()) if (log.ref.scope === scope) size += sizeOf(log.tail);
    if (this.#scopes.size >= SCOPES) this.#scopes.clear();
    this.#scopes.set(scope, size);
    return size;
  }

  /** A log has changed, and the change is committed. */
  changed(log: LogState): void {
    const by = log.size - log.countedSize;
    log.countedSize = log.size;
    const known = this.#scopes.get(log.ref.scope);
    if (known !== undefined) this.#scopes.set(log.ref.scope, known + by);
  }

  /** Something was dropped. */
  forget(): void {
    this.#scopes.clear();
  }
}
