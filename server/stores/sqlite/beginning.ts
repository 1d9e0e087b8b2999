import type { Message } from '../../../shared/messages.js';
import { type AcquireOptions, firstCheckpoint, type SessionRef } from '../store.js';
import type { Connection } from './connection.js';
import { LogState } from './log-state.js';
import type { Reader } from './reader.js';
import type { Statements } from './statements.js';
import type { Usage } from './usage.js';

/** What a log is begun with. */
interface Parts {
  readonly connection: Connection;
  readonly sql: Statements;
  readonly reader: Reader;
  readonly usage: Usage;
}

/** Begins a log of a session, which is new itself or has a closed one, with all the messages it is to have or not at all. */
export function begin(
  { connection, sql, reader, usage }: Parts,
  ref: SessionRef,
  { epoch, userId, from }: NonNullable<AcquireOptions['create']>,
): LogState {
  const { scope, app, name } = ref;
  const make = (): LogState => {
    const session = reader.session(ref)?.id ?? (sql.putSession.all(scope, app, name)[0]!.id as number);
    const id = sql.putLog.all(session, epoch, userId ?? null, Date.now())[0]!.id as number;
    sql.pointSession.run(id, session);
    const log = new LogState(ref, sql.log.get(id)!, []);
    if (!from) return log;
    const source = from.log && reader.log(from.log, from.log.epoch);
    const { tip = null, messages } = from;
    const copied = source && tip !== null && sql.sizeOfMessage.get(source.id, tip) ? tip : null;
    if (copied !== null) sql.copyPath.run(id, source!.id, copied);
    putMessages(sql, id, messages);
    sql.putCheckpoint.run(id, JSON.stringify(firstCheckpoint(messages.at(-1)?.id ?? copied)));
    log.size = Number(sql.sizeOfMessages.get(id)?.n ?? 0);
    sql.moveFirst.run(log.first, log.size, id);
    return log;
  };
  // What is imported was accepted elsewhere: the loss of power must not cost it.
  const log = connection.transaction(make, from ? 'FULL' : 'NORMAL');
  usage.changed(log);
  return log;
}

/** Keeps messages as rows of a log, within a transaction. Returns by how many characters they grow it. */
export function putMessages(sql: Statements, log: number, messages: readonly Message[]): number {
  let size = 0;
  for (const message of messages) {
    const data = JSON.stringify(message);
    size += data.length - Number(sql.sizeOfMessage.get(log, message.id)?.size ?? 0);
    sql.putMessage.run(log, message.id, message.parentId ?? null, data.length, data);
  }
  return size;
}
