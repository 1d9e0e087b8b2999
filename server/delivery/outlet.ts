import type { GapReason } from '../../shared/events.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { WireForm } from './wire-form.js';

/** The receiver of a subscription's events. `writable` is false while the receiver lags behind; its owner pumps again on drain. */
export interface Outlet {
  readonly form: WireForm<unknown>;
  readonly writable: boolean;
  /** @param events Number of logged events in the payload. */
  write(payload: unknown, events: number): void;
  /** Called when a gap is announced. */
  gap(reason: GapReason): void;
  /** Called when the place of a subscription changed other than by events: a new log, or a snapshot. */
  moved(): void;
  /** Ends the connection because a log can't be served here any more. The client comes back and resumes. */
  interrupt(): void;
  report: Report;
}
