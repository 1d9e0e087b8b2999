import type { GapReason, SubscriptionInfo } from '../../shared/events.js';

/** Counts of everything that the connections of a gateway were sent since its start. */
export class Tally {
  /** Logged events, counted per connection. */
  events = 0;
  /** Bytes of events and their framing, before TLS and the frames of the transport below. Readers in this process count none. */
  bytes = 0;
  /** Subscriptions of clients by their start: without a cursor, exactly behind it, or with a gap. */
  readonly resumes: Record<SubscriptionInfo['resume'], number> = { new: 0, exact: 0, gap: 0 };
  /** Streams that were told to come back instead of being opened, by reason. */
  readonly turnedAway: Record<'drain' | 'away' | 'overload', number> = {
    ...{ drain: 0, away: 0, overload: 0 },
  };
  /** Connections that were cut because there were as many as the process may have. */
  dropped = 0;
  /** Gaps that were announced, by reason. */
  readonly gaps: Record<GapReason, number> = { epoch: 0, truncated: 0, evicted: 0, ahead: 0, malformed: 0 };
}
