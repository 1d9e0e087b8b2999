import { randomInt } from 'node:crypto';
import type { SqliteConnection } from './connection.js';
import type { Statements } from './statements.js';

const BLOCK = 4096;
/** Each opening skips a random number of terms below this. A million openings fit into the safe integers. */
const GAP = 2 ** 34;

/**
 * Fencing tokens, each given once in the life of the file. They are reserved in blocks that survive a loss of power, so that taking a
 * session costs no write and the term of lost events is not given again. Each opening skips a random number of them, so that a restored
 * backup does not repeat terms that were given after it was made.
 */
export class Terms {
  readonly #connection: SqliteConnection;
  readonly #sql: Statements;
  #next: number;
  #end: number;

  constructor(connection: SqliteConnection, sql: Statements) {
    this.#connection = connection;
    this.#sql = sql;
    this.#next = Number(sql.meta.get('terms')?.value ?? 1) + randomInt(GAP);
    this.#end = this.#next;
  }

  next(): number {
    if (this.#next === this.#end) this.#reserve(this.#end + BLOCK);
    return this.#next++;
  }

  /** Takes a term of another store. All that follow are higher. */
  taken(term: number): number {
    if (term >= this.#end) this.#reserve(term + BLOCK);
    this.#next = Math.max(this.#next, term + 1);
    return term;
  }

  #reserve(end: number): void {
    this.#connection.transaction(() => this.#sql.putMeta.run('terms', end), 'FULL');
    this.#end = end;
  }
}
