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

/** Schema of a run's stop reason. */
export const stopReasonSchema = z.enum([
  'end',
  'max_tokens',
  'tool_use',
  'aborted',
  'superseded',
  'steered',
  'timeout',
  'error',
  'lost',
  'taken_over',
  'handed_off',
]);

/** Schema of `onBusy`. */
export const onBusySchema = z.enum(['queue', 'steer', 'interrupt', 'reject']);

/** Schema of a session's status. */
export const sessionStatusSchema = z.enum(['idle', 'running', 'waiting']);

/** Schema of a gap's reason. */
export const gapReasonSchema = z.enum(['epoch', 'truncated', 'evicted', 'ahead', 'malformed']);
