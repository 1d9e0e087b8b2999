import * as z from 'zod';
import type { ErrorBody } from '../gateway-error.js';
import type { Exactly } from './exactly.js';

/** The fields of the error object of the wire. */
export const errorBodyShape = {
  code: z.string(),
  message: z.string(),
  status: z.number().int().exactOptional(),
  details: z.unknown().exactOptional(),
  retryable: z.boolean().exactOptional(),
  retryAfterMs: z.number().exactOptional(),
  guardType: z.enum(['role', 'custom']).exactOptional(),
  requestId: z.string().exactOptional(),
};

/** The error object of the wire. HTTP answers carry it as `{ error }`. */
export const errorBodySchema: z.ZodType<ErrorBody> = z.object(
  errorBodyShape satisfies Exactly<typeof errorBodyShape, ErrorBody>,
);
