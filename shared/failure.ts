import type { StopReason } from './messages.js';

/** Whether nobody wanted a run to end like this. */
export function isFailure(stopReason: StopReason | undefined): boolean {
  return stopReason === 'error' || stopReason === 'lost' || stopReason === 'timeout';
}
