import * as z from 'zod';
import { idSchema, ok, sessionId } from '../values/schema.js';

/** Params and results of the operations that take messages back. */
export const retractionOperationSchemas = {
  retract: {
    params: z.strictObject({ sessionId, messageId: idSchema, reason: z.string().min(1).optional() }),
    result: ok,
  },
};
