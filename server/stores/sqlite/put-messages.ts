import { outdated } from '../message-rows.js';
import type { MessageRow } from '../stored.js';
import { toColumn, toNullable } from '../text-column.js';
import type { Statements } from './statements.js';

/** Keeps messages as rows of a log, within a transaction. Returns the number of characters by which the log grows. */
export function putMessages(sql: Statements, log: number, messages: readonly MessageRow[]): number {
  let size = 0;
  const rowOf = (id: string): MessageRow | undefined => {
    const row = sql.message.get(log, toColumn(id));
    return row && (JSON.parse(row.data as string) as MessageRow);
  };
  const put = (message: MessageRow): void => {
    const id = toColumn(message.id);
    const data = JSON.stringify(message);
    size += data.length - Number(sql.sizeOfMessage.get(log, id)?.size ?? 0);
    sql.putMessage.run(log, id, toNullable(message.parentId), data.length, data);
  };
  for (const message of messages) {
    put(message);
    for (const other of outdated(message, rowOf)) put(other);
  }
  return size;
}
