import { encodeEvents } from '../event-text.js';
import { bodiesOf, type Rewrites, rewritten } from '../rewrites.js';
import { sizeOf } from '../stored-size.js';
import type { PostgresReader } from './reader.js';

/** Batches with rewritten events, and a checkpoint, as the function `write` takes them. */
export interface RewrittenBatches {
  readonly rewrites: readonly { readonly last: number; readonly size: number; readonly data: string }[];
  readonly checkpoint?: string;
  /** The place behind which the log begins with that checkpoint. */
  readonly checkpointAt?: number;
}

/** Makes the batches of a log anew. Only its writer changes them, so they are the same when they are written. */
export async function rewriteBatches(
  reader: PostgresReader,
  log: number,
  rewrites: Rewrites,
): Promise<RewrittenBatches> {
  const { bodies, first, last } = bodiesOf(rewrites);
  const batches = await reader.batches(log, first - 1, last);
  const { checkpoint } = rewrites;
  return {
    rewrites: batches.flatMap((batch) => {
      const anew = rewritten(batch, bodies);
      return anew ? [{ last: anew.at(-1)!.seq, size: sizeOf(anew), data: encodeEvents(anew) }] : [];
    }),
    ...(checkpoint && { checkpoint: JSON.stringify(checkpoint), checkpointAt: checkpoint.seq }),
  };
}
