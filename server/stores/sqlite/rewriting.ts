import { decodeEvents, encodeEvents } from '../event-text.js';
import { bodiesOf, type Rewrites, rewritten } from '../rewrites.js';
import { sizeOf } from '../stored-size.js';
import type { SqliteConnection } from './connection.js';
import type { Journal } from './journal.js';
import type { LogState } from './log-state.js';
import { unpacked } from './packing.js';
import type { Statements } from './statements.js';

/** Has earlier events of a log, and its checkpoint, say something else, within a transaction. */
export function rewriteEvents(
  sql: Statements,
  { connection, journal }: { readonly connection: SqliteConnection; readonly journal: Journal },
  log: LogState,
  rewrites: Rewrites,
): void {
  // A replay of the journal leaves out what is in chunks.
  journal.chunkTail(log);
  journal.outdate();
  connection.rewrites += 1;
  const { bodies, first, last } = bodiesOf(rewrites);
  let grown = 0;
  for (let place = first - 1; place < last; ) {
    const chunk = sql.chunkAfter.get(log.id, place);
    if (!chunk) break;
    const events = decodeEvents(unpacked(chunk.data!), chunk.first as number);
    place = events.at(-1)!.seq;
    const anew = rewritten(events, bodies);
    if (!anew) continue;
    grown += sizeOf(anew) - sizeOf(events);
    sql.rewriteChunk.run(encodeEvents(anew), sizeOf(anew), log.id, place);
  }
  sql.moveHead.run(log.chunked, grown, log.id);
  log.size += grown;
  const { checkpoint } = rewrites;
  if (checkpoint && log.first === checkpoint.seq + 1)
    sql.putCheckpoint.run(log.id, JSON.stringify(checkpoint));
}
