import * as z from 'zod';

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
  'moderated',
  'budget',
]);

/** Schema of `onBusy`. */
export const onBusySchema = z.enum(['queue', 'steer', 'interrupt', 'reject']);

/** Schema of a session's status. */
export const sessionStatusSchema = z.enum(['idle', 'running', 'waiting']);

/** Schema of a gap's reason. */
export const gapReasonSchema = z.enum(['epoch', 'truncated', 'evicted', 'ahead', 'malformed']);
