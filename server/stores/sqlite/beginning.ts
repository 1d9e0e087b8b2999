import type { Message } from '../../../shared/messages.js';
import { aboutOf, PREVIEWED } from '../about.js';
import { outdated, withoutVersions } from '../message-rows.js';
import { firstCheckpoint, type NewSession, type SessionRef } from '../store.js';
import type { SqliteConnection } from './connection.js';
import { LogState } from './log-state.js';
import { putAbout } from './put-about.js';
import type { SqliteReader } from './reader.js';
import type { Statements } from './statements.js';
import type { SqliteUsage } from './usage.js';

/** The parts of the store that begin a log. */
interface BeginningLogParts {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly reader: SqliteReader;
  readonly usage: SqliteUsage;
}

/** Begins a log of a new session, or of one whose log is closed. All its first messages are stored, or nothing is. */
export function begin(
  { connection, sql, reader, usage }: BeginningLogParts,
  ref: SessionRef,
  { epoch, userId, from, title, metadata, forkedFrom }: NewSession,
): LogState {
  const { scope, app, name } = ref;
  const make = (): LogState => {
    const session = reader.session(ref)?.id ?? (sql.putSession.all(scope, app, name)[0]!.id as number);
    const now = Date.now();
    const id = sql.putLog.all(session, epoch, userId ?? null, now)[0]!.id as number;
    sql.pointSession.run(id, now, forkedFrom ? JSON.stringify(forkedFrom) : null, session);
    const log = new LogState(ref, sql.log.get(id)!, []);
    if (!from && title === undefined && !metadata) return log;
    const source = from?.log && reader.log(from.log, from.log.epoch);
    const { tip, messages = [] } = from ?? {};
    if (source && tip !== undefined) sql.copyPath.run(id, source.id, tip);
    putMessages(sql, id, messages.map(withoutVersions));
    const copied = source && tip !== undefined && sql.sizeOfMessage.get(id, tip) ? tip : undefined;
    const last = messages.at(-1)?.id ?? copied;
    const checkpoint = firstCheckpoint({
      tip: last,
      messageCount: last === undefined ? 0 : Number(sql.pathLength.get(id, last)!.n),
      ...(title !== undefined && { title }),
      ...(metadata && { metadata }),
    });
    const shown = last === undefined ? [] : reader.messages(id, { tip: last, limit: PREVIEWED });
    putAbout(sql, log, aboutOf({ ...checkpoint.state, messages: shown }));
    sql.putCheckpoint.run(id, JSON.stringify(checkpoint));
    log.size = Number(sql.sizeOfMessages.get(id)?.n ?? 0);
    sql.moveFirst.run(log.first, log.size, id);
    return log;
  };
  // Imported messages were accepted elsewhere, so a loss of power must not lose them.
  const log = connection.transaction(make, from ? 'FULL' : 'NORMAL');
  usage.changed(log);
  return log;
}

/** Keeps messages as rows of a log, within a transaction. Returns the number of characters by which the log grows. */
export function putMessages(sql: Statements, log: number, messages: readonly Message[]): number {
  let size = 0;
  const rowOf = (id: string): Message | undefined => {
    const row = sql.message.get(log, id);
    return row && (JSON.parse(row.data as string) as Message);
  };
  const put = (message: Message): void => {
    const data = JSON.stringify(message);
    size += data.length - Number(sql.sizeOfMessage.get(log, message.id)?.size ?? 0);
    sql.putMessage.run(log, message.id, message.parentId ?? null, data.length, data);
  };
  for (const message of messages) {
    put(message);
    for (const other of outdated(message, rowOf)) put(other);
  }
  return size;
}
