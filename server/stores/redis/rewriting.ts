import { bodiesOf, type Rewrites, rewritten } from '../rewrites.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { encodeBatch } from './events.js';
import type { RedisReader } from './reader.js';

/** Entries of a stream with rewritten events, and a checkpoint, as the script `COMMIT` takes them. */
export interface RewrittenEntries {
  readonly entries: readonly { readonly last: string; readonly size: number; readonly entry: string }[];
  readonly checkpoint: string | undefined;
  /** The place behind which the log begins with that checkpoint. */
  readonly checkpointAt: number | undefined;
  /** Characters by which the log grows. */
  readonly grown: number;
}

/** Makes the entries of a log anew. Only its writer changes them, so they are the same when they are written. */
export async function rewriteEntries(
  reader: RedisReader,
  log: LogRef,
  rewrites: Rewrites,
): Promise<RewrittenEntries> {
  const { bodies, first, last } = bodiesOf(rewrites);
  let grown = 0;
  const entries = (await reader.batches(log, first - 1, last)).flatMap((batch) => {
    const anew = rewritten(batch, bodies);
    if (!anew) return [];
    grown += sizeOf(anew) - sizeOf(batch);
    return [{ last: String(anew.at(-1)!.seq), size: sizeOf(anew), entry: encodeBatch(anew) }];
  });
  const { checkpoint } = rewrites;
  return {
    entries,
    grown,
    checkpoint: checkpoint && JSON.stringify(checkpoint),
    checkpointAt: checkpoint?.seq,
  };
}
