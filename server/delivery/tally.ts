import type { GapReason, SubscriptionInfo } from '../../shared/events.js';

/** What all connections of a gateway have been sent since it was made. */
export class Tally {
  /** Logged events, once for each connection. */
  events = 0;
  /** Bytes of events and what goes with them, before TLS and the frames of the transport below; none for readers in this process. */
  bytes = 0;
  /** How the sessions that clients followed were taken up: without a cursor, exactly behind it, or with a gap. */
  readonly resumes: Record<SubscriptionInfo['resume'], number> = { new: 0, exact: 0, gap: 0 };
  /** Gaps that were announced. */
  readonly gaps: Record<GapReason, number> = { epoch: 0, truncated: 0, evicted: 0, ahead: 0, malformed: 0 };
}
