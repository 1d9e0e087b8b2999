import { MessageRows } from '../message-rows.js';
import type { PathOptions } from '../store.js';
import type { LogRef, MessageRow } from '../stored.js';
import type { Keys } from './keys.js';
import type { Link } from './link.js';
import { PATH } from './scripts/look.js';

/** The number of rows of a path that one script follows. Other clients wait for a script. */
const AT_ONCE = 500;

/** Ids are written as JSON, so that a row can name its parent in its first line. */
const idOf = (id: string | null | undefined): string => JSON.stringify(id ?? null);

/** Encodes rows for scripts: id, row and parent of each. */
export function encodeRows(messages: readonly MessageRow[]): string[] {
  return messages.flatMap((message) => {
    const parent = idOf(message.parentId);
    return [idOf(message.id), `${parent}\n${JSON.stringify(message)}`, parent];
  });
}

const decodeRow = (row: string): MessageRow => JSON.parse(row.slice(row.indexOf('\n') + 1)) as MessageRow;

/** The rows that are written, and the number of characters by which they grow the log. */
export interface PutRows {
  readonly messages: readonly MessageRow[];
  readonly grown: number;
}

export const NO_ROWS: PutRows = { messages: [], grown: 0 };

/** The messages of logs, which are kept apart from the events. */
export class RedisRows {
  readonly #link: Link;
  readonly #keys: Keys;

  constructor(link: Link, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  #rows(log: LogRef): string {
    return this.#keys.log(this.#keys.session(log), log.epoch).rows;
  }

  async path(log: LogRef, { tip, limit }: PathOptions): Promise<readonly MessageRow[]> {
    const key = this.#rows(log);
    const path: MessageRow[] = [];
    let all = Number.POSITIVE_INFINITY;
    for (let [id, left] = [idOf(tip), limit]; id !== 'null' && left > 0; ) {
      const call = PATH.call({ rows: key }, { id, limit: Math.min(left, AT_ONCE) });
      const [next, rows] = (await this.#link.run(call)) as [string, string[]];
      for (const row of rows) path.push(JSON.parse(row) as MessageRow);
      // A path that is longer than the number of rows is a circle.
      if (rows.length === AT_ONCE && all === Number.POSITIVE_INFINITY)
        all = Number(await this.#link.send(key, ['HLEN', key]));
      all -= rows.length;
      left = Math.min(left - rows.length, all);
      id = next;
    }
    return path.reverse();
  }

  async replies(log: LogRef, parent: string | null): Promise<readonly string[]> {
    const { rows, replies } = this.#keys.log(this.#keys.session(log), log.epoch);
    const id = (await this.#link.send(replies, ['HGET', replies, idOf(parent)])) as string | null;
    const row = id && ((await this.#link.send(rows, ['HGET', rows, id])) as string | null);
    if (!row) return [];
    const message = decodeRow(row);
    return message.versions ?? [message.id];
  }

  /** The rows to write for these messages, some of which may exist. Each stored version of a message is updated to list the new one. */
  async put(log: LogRef, messages: readonly MessageRow[]): Promise<PutRows> {
    if (messages.length === 0) return NO_ROWS;
    const key = this.#rows(log);
    const ids = [...new Set(messages.flatMap(({ id, versions = [] }) => [id, ...versions]))];
    const found = (await this.#link.send(key, ['HMGET', key, ...ids.map(idOf)])) as (string | null)[];
    const rows = new MessageRows();
    for (const row of found) if (row) rows.put([decodeRow(row)]);
    const grown = rows.put(messages);
    return { messages: ids.flatMap((tip) => rows.path({ tip, limit: 1 })), grown };
  }
}
