import crypto, { randomBytes } from 'node:crypto';
import { unauthenticated } from './refusal.js';
import type { Identity } from './types.js';

const OPEN_WITHIN_MS = 30_000;
const MAX_AGE_MS = 3_600_000;
const PER_USER = 16;
const TOTAL = 10_000;
const FORM = /^tkt_[A-Za-z0-9_-]{43}$/;

interface Entry {
  readonly identity: Identity;
  readonly expiresAt: number;
  /** Until when it may be opened; undefined once it was. */
  openBy: number | undefined;
}

export interface IssuedTicket {
  readonly ticket: string;
  /** Epoch milliseconds until which it serves reconnects, once opened. */
  readonly expiresAt: number;
}

/** Whether a token has the form of a ticket. */
export function isTicket(token: string): boolean {
  return FORM.test(token);
}

/**
 * Tickets stand in for a token in the URL of an event stream. One is opened within 30 s by one stream, and then serves that
 * stream's reconnects until the token of its holder expires, 1 h at most. Bounded: 16 a user and 10,000 in all, the one
 * unused for longest goes first. Only their hashes are kept.
 */
export class Tickets {
  readonly #now: () => number;
  /** By hash, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #byUser = new Map<string, Set<string>>();
  #sweptAt: number;

  /** @param now epoch milliseconds */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
    this.#sweptAt = now();
  }

  /** Tickets that are held; expired ones are dropped when others are issued. */
  get size(): number {
    return this.#entries.size;
  }

  /** Makes a ticket for an authenticated caller. */
  issue(identity: Identity): IssuedTicket {
    const now = this.#now();
    this.#sweep(now);
    const ticket = `tkt_${randomBytes(32).toString('base64url')}`;
    const expiresAt = Math.min(identity.expiresAt ?? Number.POSITIVE_INFINITY, now + MAX_AGE_MS);
    const id = idOf(ticket);
    const mine = this.#byUser.get(identity.userKey) ?? new Set();
    this.#byUser.set(identity.userKey, mine.add(id));
    this.#entries.set(id, { identity, expiresAt, openBy: Math.min(now + OPEN_WITHIN_MS, expiresAt) });
    if (mine.size > PER_USER) this.#dropFirst(mine);
    if (this.#entries.size > TOTAL) this.#dropFirst(this.#entries);
    return { ticket, expiresAt };
  }

  /**
   * Opens a stream with a ticket, or resumes it (`resuming`: the request carries a last event id).
   *
   * @throws GatewayError `UNAUTHENTICATED` when it is unknown or expired, or was opened before and this is no resumption.
   */
  redeem(ticket: string, { resuming }: { readonly resuming: boolean }): Identity {
    const id = idOf(ticket);
    const entry = this.#entries.get(id);
    if (entry === undefined) throw unauthenticated('unknown ticket');
    if (isDead(entry, this.#now())) {
      this.#drop(id);
      throw unauthenticated('expired ticket');
    }
    if (entry.openBy === undefined && !resuming) throw unauthenticated('the ticket was opened before');
    entry.openBy = undefined;
    this.#touch(id, entry);
    return entry.identity;
  }

  #touch(id: string, entry: Entry): void {
    const mine = this.#byUser.get(entry.identity.userKey);
    mine?.delete(id);
    mine?.add(id);
    this.#entries.delete(id);
    this.#entries.set(id, entry);
  }

  // Swept when tickets are issued, not by a timer: nothing then keeps the process alive, and an idle gateway does no work.
  #sweep(now: number): void {
    if (now - this.#sweptAt < OPEN_WITHIN_MS) return;
    this.#sweptAt = now;
    for (const [id, entry] of this.#entries) if (isDead(entry, now)) this.#drop(id);
  }

  #dropFirst(ids: { keys(): Iterator<string> }): void {
    const first = ids.keys().next();
    if (!first.done) this.#drop(first.value);
  }

  #drop(id: string): void {
    const userKey = this.#entries.get(id)?.identity.userKey;
    this.#entries.delete(id);
    if (userKey === undefined) return;
    const mine = this.#byUser.get(userKey);
    mine?.delete(id);
    if (mine?.size === 0) this.#byUser.delete(userKey);
  }
}

function isDead(entry: Entry, now: number): boolean {
  return now >= entry.expiresAt || (entry.openBy !== undefined && now >= entry.openBy);
}

function idOf(ticket: string): string {
  return crypto.hash('sha256', ticket, 'base64');
}
