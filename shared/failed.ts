/** The texts for runs that failed, whose app says no more. */
export const FAILED = {
  error: 'The app failed',
  timeout: 'The answer took too long',
  lost: 'The answer was cut off: its server went away',
} as const;

/** The text for a run that ended so; undefined if it did not fail. */
export function failureOf(stopReason: string): string | undefined {
  return Object.hasOwn(FAILED, stopReason) ? FAILED[stopReason as keyof typeof FAILED] : undefined;
}
