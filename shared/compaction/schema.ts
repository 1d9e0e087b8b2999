import * as z from 'zod';

const common = {
  id: z.string(),
  summary: z.string(),
  covers: z.number().int(),
  usage: z.record(z.string(), z.unknown()).exactOptional(),
};

/** A summary as a message has it. */
export const compactionSchema = z.object({ ...common, at: z.number(), runId: z.string().exactOptional() });

/** Fields of the events of compaction. */
export const compactionEventShapes = { compacted: { ...common, messageId: z.string() } };
