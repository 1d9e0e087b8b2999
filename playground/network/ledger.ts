import type { GatewayEvent } from 'agent-session-gateway/client';
import { parseCursor } from '../../shared/cursor.js';

/** What became of the events of a session, by their own numbers. */
export interface Account {
  readonly delivered: number;
  /** Numbers that were passed over without a word. */
  readonly lost: number;
  /** Numbers that came again. */
  readonly doubled: number;
  /** Gaps that were announced: the gateway keeps those events no more. */
  readonly gaps: number;
}

export const EMPTY_ACCOUNT: Account = { delivered: 0, lost: 0, doubled: 0, gaps: 0 };

/** Where the next event is expected. */
export interface Ledger {
  readonly account: Account;
  readonly epoch: string | null;
  /** The last number that was seen; null where the next may be any. */
  readonly last: number | null;
}

export const EMPTY_LEDGER: Ledger = { account: EMPTY_ACCOUNT, epoch: null, last: null };

/** Enters one event. Of each log the numbers go from one to the next; whatever else happens is counted. */
export function enter(ledger: Ledger, event: GatewayEvent): Ledger {
  const { account } = ledger;
  if (event.type === 'gap') {
    // Says itself that events are missing, and a snapshot where it goes on.
    return { account: { ...account, gaps: account.gaps + 1 }, epoch: null, last: null };
  }
  const place = event.cursor === undefined ? null : parseCursor(event.cursor);
  if (!place) return ledger;
  const { epoch, seq } = place;
  if (event.type === 'snapshot') return { account, epoch, last: seq };
  // A log that begins anew begins at 1.
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
