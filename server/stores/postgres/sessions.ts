import { createHash } from 'node:crypto';
import type { RecordHome } from '../records.js';
import type { LogRef, SessionRef } from '../stored.js';
import { toColumn } from '../text-column.js';
import type { PostgresDatabase } from './database.js';

/** The number of logs whose rows are remembered. */
const LOGS = 10_000;

/** How sessions and logs are found: by a hash of their names, and by the ids of rows. */
export class SessionIds {
  readonly #database: PostgresDatabase;
  readonly #keys = new WeakMap<RecordHome, string>();
  /** Ids of logs, by the keys of their sessions and their epochs. The id of a log never changes. */
  readonly #logs = new Map<string, number>();
  readonly #writers = new WeakMap<LogRef, number>();

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** The hash of the name of a session, or of a scope. */
  keyOf(ref: RecordHome): string {
    let key = this.#keys.get(ref);
    if (key === undefined) {
      const { scope, app, name } = ref;
      const hash = createHash('sha256')
        .update(JSON.stringify([scope, app, name]))
        .digest();
      key = hash.subarray(0, 18).toString('base64url');
      this.#keys.set(ref, key);
    }
    return key;
  }

  remember(ref: SessionRef, epoch: string, id: number): void {
    if (this.#logs.size >= LOGS) this.#logs.delete(this.#logs.keys().next().value!);
    this.#logs.set(`${this.keyOf(ref)} ${epoch}`, id);
  }

  /** The id of a log, if it is known here. */
  known(ref: LogRef): number | undefined {
    // A writer appends under one and the same ref object.
    let id = this.#writers.get(ref);
    if (id === undefined) {
      id = this.#logs.get(`${this.keyOf(ref)} ${ref.epoch}`);
      if (id !== undefined) this.#writers.set(ref, id);
    }
    return id;
  }

  async idOf(ref: LogRef): Promise<number | null> {
    const known = this.known(ref);
    if (known !== undefined) return known;
    const query =
      'SELECT l.id FROM $S.session s JOIN $S.log l ON l.session = s.id WHERE s.key = $1 AND l.epoch = $2';
    const row = await this.#database.first(query, this.keyOf(ref), toColumn(ref.epoch));
    if (row) this.remember(ref, ref.epoch, row.id as number);
    return (row?.id as number | undefined) ?? null;
  }
}
