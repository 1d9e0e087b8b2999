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
  const put = (message: MessageRow, isNew = false): void => {
    const id = toColumn(message.id);
    const data = JSON.stringify(message);
    size += data.length;
    if (!isNew) size -= Number(sql.sizeOfMessage.get(log, id)?.size ?? 0);
    sql.putMessage.run(log, id, toNullable(message.parentId), data.length, data);
  };
  const ids = messages.map(({ id }) => toColumn(id));
  const areNew = new Set(ids).size === ids.length && !sql.anyMessage.get(log, JSON.stringify(ids));
  for (const message of messages) {
    put(message, areNew);
    for (const other of outdated(message, rowOf)) put(other);
  }
  return size;
}
