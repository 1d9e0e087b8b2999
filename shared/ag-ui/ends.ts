import { FAILED } from '../failed.js';
import type { StopReason } from '../messages.js';

/** Error code of a run whose gateway went away; the gateway's own errors have no word for it. */
const LOST = 'LOST';

/** The failure that ended a run; null if it did not fail. */
export function failureOf(
  stopReason: StopReason,
  error: { readonly code: string; readonly message: string } | null,
): { readonly message: string; readonly code: string } | null {
  switch (stopReason) {
    case 'error':
      return { message: error?.message ?? FAILED.error, code: error?.code ?? 'INTERNAL' };
    case 'timeout':
      return { message: error?.message ?? FAILED.timeout, code: error?.code ?? 'TIMEOUT' };
    case 'lost':
      return { message: FAILED.lost, code: LOST };
    default:
      return null;
  }
}
