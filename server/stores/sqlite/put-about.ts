import { searched } from '../about.js';
import type { AppendOptions } from '../append.js';
import { toColumn, toNullable } from '../text-column.js';
import type { LogState } from './log-state.js';
import type { Statements } from './statements.js';

/** Stores the fields that lists show of a session, within a transaction. */
export function putAbout(
  sql: Statements,
  log: LogState,
  { usedAt = 0, ...about }: NonNullable<AppendOptions['about']>,
): void {
  const { title = null, metadata, archived = false, preview = null, failed = false, arrivals } = about;
  log.about = about;
  log.usedAt = Math.max(log.usedAt, usedAt);
  sql.putAbout.run(
    log.usedAt,
    Number(archived),
    toNullable(title),
    title === null ? null : toColumn(searched(title)),
    metadata ? JSON.stringify(metadata) : null,
    toNullable(preview),
    about.messageCount,
    about.pending,
    Number(failed),
    arrivals ? JSON.stringify(arrivals) : null,
    log.session,
  );
}
