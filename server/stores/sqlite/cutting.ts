import type { Checkpoint, MessageRow } from '../stored.js';
import type { SqliteConnection } from './connection.js';
import type { Journal } from './journal.js';
import type { LogState } from './log-state.js';
import { putMessages } from './put-messages.js';
import type { Statements } from './statements.js';

interface CuttingParts {
  readonly connection: SqliteConnection;
  readonly sql: Statements;
  readonly journal: Journal;
}

/** Drops the events of a log up to a checkpoint, which it keeps with these messages. */
export function cutLog(
  { connection, sql, journal }: CuttingParts,
  log: LogState,
  checkpoint: Checkpoint,
  messages: readonly MessageRow[],
): void {
  const undo = log.mark();
  const first = checkpoint.seq + 1;
  try {
    connection.transaction(() => {
      // Replay restores journal events beyond the log's stored head, so that head must be past the cut.
      if (log.chunked < checkpoint.seq) journal.chunkTail(log);
      let size = putMessages(sql, log.id, messages);
      sql.putCheckpoint.run(log.id, JSON.stringify(checkpoint));
      for (const chunk of sql.cutChunks.all(log.id, checkpoint.seq)) size -= chunk.size as number;
      sql.moveFirst.run(first, size, log.id);
      log.size += size;
      sql.cutTerms.run(log.id, first);
    });
    log.first = first;
  } catch (error) {
    undo();
    throw error;
  }
}
