import * as z from 'zod';
import { idProblem, MAX_ID_BYTES } from '../ids.js';

/** An id that a client gives. */
export const idSchema = z
  .string()
  .min(1)
  .max(MAX_ID_BYTES)
  .superRefine((id, { addIssue }) => {
    // The bounds above say what is wrong with their own.
    const problem = id === '' || id.length > MAX_ID_BYTES ? null : idProblem(id);
    if (problem !== null) addIssue({ code: 'custom', message: problem });
  });

/** A session, as its caller names it. */
export const sessionId = z.string();

/** The most items of a page. */
export const pageLimit = z.coerce.number().int().min(1).max(1000).optional();

/** The result of an operation that only answers that it was done. */
export const ok = z.object({ ok: z.literal(true) });
