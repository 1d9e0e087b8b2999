import { type AppendResult, StoreError } from '../append.js';
import type { LogRef } from '../stored.js';
import { runOf } from './session-data.js';

/** Replies of the scripts that append: a number is the place of the first event. `ordinal` is the log's place among logs that were used at the same time. */
export type Answer =
  | number
  | readonly ['A' | 'D', first: number, last: number, ordinal?: string]
  | readonly ['K', head: number, runId: string, row: string]
  | readonly ['S', head: number]
  | readonly ['R', batch: number]
  | readonly ['F', term: string]
  | readonly ['E', reason: string]
  | readonly ['X'];

/**
 * The result of an append.
 *
 * @param count Number of its events
 * @throws StoreError `FENCED`; `ROLLED_BACK` if Redis has forgotten earlier batches, or that the log was taken; `UNKNOWN` if its part of the script failed
 */
export function resultOf({ epoch }: LogRef, term: number, count: number, answer: Answer): AppendResult {
  if (typeof answer === 'number') return { epoch, first: answer, last: answer + count - 1 };
  switch (answer[0]) {
    case 'A':
    case 'D':
      return { epoch, first: answer[1], last: answer[2] };
    case 'K': {
      const [, head, runId, row] = answer;
      return { epoch, first: head + 1, last: head, duplicate: runOf(runId, row) };
    }
    case 'S':
      return { epoch, first: answer[1] + 1, last: answer[1], stale: true };
    case 'R':
      throw new StoreError('ROLLED_BACK', `Redis has forgotten what came after batch ${answer[1]}`);
    case 'E':
      throw new StoreError('UNKNOWN', `Redis cannot write this session: ${answer[1]}`);
    default:
      // A lower term is that of a former writer.
      if (Number(answer[1]) < term)
        throw new StoreError('ROLLED_BACK', 'Redis has forgotten that this session was taken');
      throw new StoreError('FENCED', 'Another writer holds this session');
  }
}
