import crypto, { randomBytes } from 'node:crypto';
import type { MaybePromise } from '../async/maybe-promise.js';
import { unauthenticated } from './refusal.js';
import type { Identity } from './types.js';

/** How long after its issue a ticket can be opened. */
export const OPEN_WITHIN_MS = 30_000;
/** How long one serves reconnects at most. */
export const MAX_AGE_MS = 3_600_000;
export const PER_USER = 16;
export const TOTAL = 10_000;
/** Sessions a ticket's stream may come back to. */
export const SESSIONS = 1000;
const FORM = /^tkt_[A-Za-z0-9_-]{43}$/;

/** The stream that a ticket serves at present. */
export interface TicketStream {
  /** Ends it: another has come in its place. */
  supersede(): void;
}

interface Entry {
  identity: Identity;
  readonly expiresAt: number;
  /** Until when it may be opened; undefined once it was. */
  openBy: number | undefined;
  /** What its stream has followed; null before it was opened. */
  sessions: Set<string> | null;
  stream: TicketStream | null;
}

export interface IssuedTicket {
  readonly ticket: string;
  /** Epoch milliseconds until which it serves reconnects, once opened. */
  readonly expiresAt: number;
}

/** A ticket that somebody shows at the door. */
export interface ShownTicket {
  readonly identity: Identity;
  /** The identity was asked about again. */
  renew(identity: Identity): void;
  /**
   * Lets a stream of these sessions in. The former stream of the ticket ends: its client has lost it, or is somebody else.
   *
   * @throws GatewayError `UNAUTHENTICATED` when it resumes what the ticket's stream did not follow
   */
  admit(sessionIds: Iterable<string>): MaybePromise<void>;
  /** The stream has begun. What this returns is called with each session that it follows later, and has noted it once it resolves. */
  serve(stream: TicketStream): (sessionId: string) => MaybePromise<void>;
  /** Makes it worthless. */
  drop(): void;
}

/** One that is judged at once. */
interface LocalTicket extends ShownTicket {
  admit(sessionIds: Iterable<string>): void;
  serve(stream: TicketStream): (sessionId: string) => void;
}

/** Where tickets are issued and shown. */
export interface TicketDesk {
  /** Makes a ticket for an authenticated caller. */
  issue(identity: Identity): MaybePromise<IssuedTicket>;
  /**
   * Opens a stream with a ticket, or resumes it (`resuming`: the request carries a last event id).
   *
   * @throws GatewayError `UNAUTHENTICATED` when it is unknown or expired, or was opened before and this is no resumption.
   */
  redeem(ticket: string, options: { readonly resuming: boolean }): MaybePromise<ShownTicket>;
  /** Makes the tickets of whom it matches worthless. */
  withdraw(matches: (identity: Identity) => boolean): void;
}

/** Whether a token has the form of a ticket. */
export function isTicket(token: string): boolean {
  return FORM.test(token);
}

/**
 * Tickets stand in for a token in the URL of an event stream. One is opened within 30 s by one stream, and then serves that
 * stream's reconnects, one at a time and for the same sessions, until the token of its holder expires or is withdrawn, 1 h at most.
 * Bounded: 16 a user and 10,000 in all, the one unused for longest goes first. Only their hashes are kept.
 */
export class Tickets implements TicketDesk {
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

  issue(identity: Identity): IssuedTicket {
    const now = this.#now();
    this.#sweep(now);
    const ticket = newTicket();
    const expiresAt = Math.min(identity.expiresAt ?? Number.POSITIVE_INFINITY, now + MAX_AGE_MS);
    const id = idOf(ticket);
    const mine = this.#byUser.get(identity.userKey) ?? new Set();
    this.#byUser.set(identity.userKey, mine.add(id));
    const openBy = Math.min(now + OPEN_WITHIN_MS, expiresAt);
    this.#entries.set(id, { identity, expiresAt, openBy, sessions: null, stream: null });
    if (mine.size > PER_USER) this.#dropFirst(mine);
    if (this.#entries.size > TOTAL) this.#dropFirst(this.#entries);
    return { ticket, expiresAt };
  }

  redeem(ticket: string, { resuming }: { readonly resuming: boolean }): LocalTicket {
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
    return {
      identity: entry.identity,
      renew: (identity) => {
        entry.identity = identity;
      },
      admit: (sessionIds) => admit(entry, sessionIds),
      serve: (stream) => {
        entry.stream = stream;
        return (sessionId) => follow(entry, sessionId);
      },
      drop: () => this.#drop(id),
    };
  }

  withdraw(matches: (identity: Identity) => boolean): void {
    for (const [id, { identity }] of this.#entries) if (matches(identity)) this.#drop(id);
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

function admit(entry: Entry, sessionIds: Iterable<string>): void {
  const asked = [...sessionIds];
  if (entry.sessions === null) entry.sessions = new Set(asked);
  else if (asked.some((id) => !entry.sessions!.has(id))) {
    throw unauthenticated('the ticket is for the stream of other sessions');
  }
  const former = entry.stream;
  entry.stream = null;
  former?.supersede();
}

function follow({ sessions }: Entry, sessionId: string): void {
  if (sessions && sessions.size < SESSIONS) sessions.add(sessionId);
}

function isDead(entry: Entry, now: number): boolean {
  return now >= entry.expiresAt || (entry.openBy !== undefined && now >= entry.openBy);
}

/** A new ticket. */
export function newTicket(): string {
  return `tkt_${randomBytes(32).toString('base64url')}`;
}

/** By what a ticket is known: its hash. */
export function idOf(ticket: string): string {
  return crypto.hash('sha256', ticket, 'base64');
}
