import type { LiveRun } from '../runs/live-run.js';
import type { HeldSession } from './held-session.js';

/**
 * Lets the app of a run begin in its turn, which is now unless as many runs are at work as may be. A child never waits: the run above it may
 * wait for it, and has a slot.
 */
export function takeSlot({ env, ref }: HeldSession, run: LiveRun, begin: () => void): void {
  const { request } = run;
  if (request.lane?.parentRunId !== undefined) return begin();
  const { slots, tenancy } = env;
  const slot = slots.enter(tenancy.ofSender(request, ref.scope), begin);
  run.slot = slot;
  if (slot.state === 'working') begin();
}
