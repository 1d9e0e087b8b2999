import { z } from 'zod';

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

/** Schema of what a send does when the session is busy. */
export const onBusySchema = z.enum(['queue', 'steer', 'interrupt', 'reject']);

/** Schema of what a session is doing. */
export const sessionStatusSchema = z.enum(['idle', 'running', 'waiting']);

/** Schema of why continuity could not be proved. */
export const gapReasonSchema = z.enum(['epoch', 'truncated', 'evicted', 'ahead', 'malformed']);
