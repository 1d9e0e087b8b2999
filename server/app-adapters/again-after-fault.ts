import { isGatewayError } from '../../shared/errors.js';
import type { AppEvent, AppResult, Turn } from '../apps/application.js';

/** Processes that a run may be answered by, one after the other. */
const ATTEMPTS = 3;

/** The policy for an agent that dies: the run ends, or another process is asked. */
export type OnFault = 'end' | 'again';

/** Has an agent answer, and another one where it fails: what the first has said is taken back. */
export async function* againAfterFault(
  turn: Turn,
  onFault: OnFault | undefined,
  converse: () => AsyncGenerator<string | AppEvent, AppResult>,
): AsyncGenerator<string | AppEvent, AppResult> {
  const attempts = onFault === 'again' ? ATTEMPTS : 1;
  for (let attempt = 1; ; attempt += 1) {
    const mark = turn.mark();
    try {
      return yield* converse();
    } catch (error) {
      const isFault = isGatewayError(error) && error.code === 'UPSTREAM_FAILED';
      if (!isFault || attempt === attempts || turn.signal.aborted) throw error;
      turn.retract(mark);
    }
  }
}
