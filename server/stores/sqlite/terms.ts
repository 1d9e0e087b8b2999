import { randomInt } from 'node:crypto';
import type { Connection } from './connection.js';
import type { Statements } from './statements.js';

const BLOCK = 4096;
/** What is left out at each opening is random and below this: a million openings fit into the numbers there are. */
const GAP = 2 ** 34;

/**
 * Fencing tokens, each given once in the life of the file. They are reserved in blocks that survive the loss of power, so that
 * taking a session costs no write and a term whose events were lost is not given again. Each opening leaves out a random number
 * of them: a file that was put back from a backup does not give the terms again that were given since that was made.
 */
export class Terms {
  readonly #connection: Connection;
  readonly #sql: Statements;
  #next: number;
  #end: number;

  constructor(connection: Connection, sql: Statements) {
    this.#connection = connection;
    this.#sql = sql;
    this.#next = Number(sql.meta.get('terms')?.value ?? 1) + randomInt(GAP);
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
