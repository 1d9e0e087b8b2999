import type { GatewayEvent } from 'agent-session-gateway/client';
import { parseCursor } from '../../shared/cursor.js';

/** Counts of a session's events, checked by their own numbers. */
export interface Account {
  readonly delivered: number;
  /** Numbers that were skipped without a gap. */
  readonly lost: number;
  /** Numbers that came twice. */
  readonly doubled: number;
  /** Announced gaps: the gateway no longer has their events. */
  readonly gaps: number;
}

export const EMPTY_ACCOUNT: Account = { delivered: 0, lost: 0, doubled: 0, gaps: 0 };

/** The counts so far, and the expected place of the next event. */
export interface Ledger {
  readonly account: Account;
  readonly epoch: string | null;
  /** The last seen number; null if any number may come next. */
  readonly last: number | null;
}

export const EMPTY_LEDGER: Ledger = { account: EMPTY_ACCOUNT, epoch: null, last: null };

/** Enters one event. The numbers of a log are dense, and each deviation is counted. */
export function enter(ledger: Ledger, event: GatewayEvent): Ledger {
  const { account } = ledger;
  if (event.type === 'gap') {
    // A gap tells that events are missing; a snapshot tells where the log continues.
    return { account: { ...account, gaps: account.gaps + 1 }, epoch: null, last: null };
  }
  const place = event.cursor === undefined ? null : parseCursor(event.cursor);
  if (!place) return ledger;
  const { epoch, seq } = place;
  if (event.type === 'snapshot') return { account, epoch, last: seq };
  // A new log begins at 1.
  const last = epoch === ledger.epoch ? ledger.last : ledger.epoch === null ? null : 0;
  const lost = last === null ? 0 : Math.max(0, seq - last - 1);
  const doubled = last !== null && seq <= last;
  return {
    account: {
      ...account,
      delivered: account.delivered + 1,
      lost: account.lost + lost,
      doubled: account.doubled + (doubled ? 1 : 0),
    },
    epoch,
    last: doubled ? last : seq,
  };
}
