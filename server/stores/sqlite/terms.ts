import type { Connection } from './connection.js';
import type { Statements } from './statements.js';

const BLOCK = 4096;

/**
 * Fencing tokens, each given once in the life of the file. They are reserved in blocks that survive the loss of power, so that
 * taking a session costs no write and a term whose events were lost is not given again.
 */
export class Terms {
  readonly #connection: Connection;
  readonly #sql: Statements;
  #next: number;
  #end: number;

  constructor(connection: Connection, sql: Statements) {
    this.#connection = connection;
    this.#sql = sql;
    this.#next = Number(sql.meta.get('terms')?.value ?? 1);
    this.#end = this.#next;
  }

  next(): number {
    if (this.#next === this.#end) {
      const end = this.#end + BLOCK;
      this.#connection.transaction(() => this.#sql.putMeta.run('terms', end), 'FULL');
      this.#end = end;
    }
    return this.#next++;
  }
}
