import type { StopReason } from './messages.js';

/** The failure of a run, as it is told to people. */
export interface RunFailure {
  readonly message: string;
  readonly code: string;
}

/** Error code of a run whose gateway went away; the gateway's own errors have no word for it. */
const LOST = 'LOST';

/** The ends by which a run has no whole answer, and nobody has chosen that it has none. Each protocol tells them by its own words. */
const FAILURES: Partial<Readonly<Record<StopReason, RunFailure>>> = {
  error: { message: 'The app failed', code: 'INTERNAL' },
  timeout: { message: 'The answer took too long', code: 'TIMEOUT' },
  lost: { message: 'The answer was cut off: its server went away', code: LOST },
  budget: { message: 'A budget is used up', code: 'BUDGET_EXHAUSTED' },
};

/** The failure that ended a run; null if it did not fail. */
export function failureOf(
  stopReason: StopReason,
  error?: Partial<RunFailure> | null | undefined,
): RunFailure | null {
  const failure = FAILURES[stopReason];
  if (!failure) return null;
  return { message: error?.message ?? failure.message, code: error?.code ?? failure.code };
}
