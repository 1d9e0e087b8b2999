import crypto, { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { MaybePromise } from '../async/maybe-promise.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { Notes } from '../cluster/notes.js';
import type { Authenticator, CarriedIdentity } from './authenticate.js';
import { unauthenticated } from './refusal.js';
import type { Person } from './types.js';

/** The time after its issue within which a ticket must be opened. */
const OPEN_WITHIN_MS = 30_000;
/** The longest time for which a ticket serves reconnects. */
const MAX_AGE_MS = 3_600_000;
const PER_USER = 16;
/** The same for an identity that many callers share, or all who bear one link. */
const PER_MANY = 1000;
const TOTAL = 10_000;
/** The number of sessions that a ticket's stream may come back to. */
const SESSIONS = 1000;
const FORM = /^tkt_[A-Za-z0-9_-]{43}$/;

/** The present stream of a ticket. */
export interface TicketStream {
  /** Ends it, because another stream has replaced it. */
  supersede(): void;
}

export interface IssuedTicket {
  readonly ticket: string;
  /** Epoch milliseconds by the store's clock until which it serves reconnects, once opened. */
  readonly expiresAt: number;
}

/** A ticket that a caller presents. */
export interface ShownTicket {
  readonly person: Person;
  /** Called after the identity was checked again. */
  renew(person: Person): void;
  /**
   * Admits a stream of these sessions. The ticket's former stream ends: its client has lost it, or is somebody else.
   *
   * @throws GatewayError `UNAUTHENTICATED` when it resumes a session that the ticket's stream did not follow
   */
  admit(sessionIds: Iterable<string>): Promise<void>;
  /** The stream has begun. Returns a function to call with each session that it follows later; it resolves once the session is noted. */
  serve(stream: TicketStream): (sessionId: string) => MaybePromise<void>;
  /** Invalidates the ticket. */
  drop(): void;
}

/** The stored content of a ticket, sealed with the ticket itself. */
interface StoredTicket {
  readonly carried: CarriedIdentity;
  readonly expiresAt: number;
}

/** A ticket whose stream is, or was last, served here. */
interface ServedTicket {
  readonly sessions: Set<string>;
  stream: TicketStream | null;
}

/** Tells other gateways that the stream of a ticket is now served elsewhere. */
const SUPERSEDE = errand<string, void>('supersede');

export interface TicketsOptions {
  readonly errands: Errands;
  readonly notes: Notes;
  readonly authenticator: Pick<Authenticator, 'carry' | 'receive'>;
  report(error: unknown, what: string): void;
}

/** Whether a token has the form of a ticket. */
export function isTicket(token: string): boolean {
  return FORM.test(token);
}

/**
 * Tickets replace a token in the URL of an event stream. A ticket is opened within 30 s by one stream, and then serves that stream's
 * reconnects, one at a time and for the same sessions, until its holder's token expires or is withdrawn, 1 h at most. A ticket of any
 * gateway on a store can be opened and resumed at every other one. The store has only the hash of a ticket and content sealed with it, so a
 * reader of the store gets no credentials. Each gateway remembers 16 tickets a user, 1,000 where many are one, and 10,000 in all; the longest unused goes first.
 */
export class Tickets {
  readonly #options: TicketsOptions;
  /** The holders of tickets that were issued or used here, the oldest first. */
  readonly #known = new Map<string, { readonly person: Person; readonly expiresAt: number }>();
  readonly #byUser = new Map<string, Set<string>>();
  readonly #served = new Map<string, ServedTicket>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: TicketsOptions) {
    this.#options = options;
    options.errands.on(SUPERSEDE, (id) => this.#supersede(id));
  }

  get #notes(): Notes {
    return this.#options.notes;
  }

  /** The number of tickets that were issued or used here. Expired ones are dropped when others are issued. */
  get size(): number {
    return this.#known.size;
  }

  /** Makes a ticket for an authenticated caller. */
  async issue(person: Person): Promise<IssuedTicket> {
    const ticket = newTicket();
    const id = idOf(ticket);
    const now = this.#notes.time();
    const expiresAt = Math.min(
      this.#notes.time(person.expiresAt ?? Number.POSITIVE_INFINITY),
      now + MAX_AGE_MS,
    );
    const sealed = seal(ticket, { carried: this.#options.authenticator.carry(person), expiresAt });
    const ttlMs = Math.max(1, Math.min(OPEN_WITHIN_MS, expiresAt - now));
    await this.#notes.put(nameOf(id), sealed, { ttlMs });
    this.#remember(id, person, now + ttlMs);
    return { ticket, expiresAt };
  }

  /**
   * Opens a stream with a ticket, or resumes it (`resuming`: the request carries a last event id).
   *
   * @throws GatewayError `UNAUTHENTICATED` if it is unknown or expired, or was opened before and this is no resumption.
   */
  async redeem(ticket: string, { resuming }: { readonly resuming: boolean }): Promise<ShownTicket> {
    const { authenticator } = this.#options;
    const notes = this.#notes;
    const id = idOf(ticket);
    const sealed = await notes.get(nameOf(id));
    if (sealed === null) throw unauthenticated('unknown ticket');
    const { carried, expiresAt } = unseal(ticket, sealed);
    const ttlMs = expiresAt - notes.time();
    if (ttlMs <= 0) {
      await this.#drop(id);
      throw unauthenticated('expired ticket');
    }
    const isFirst = await notes.put(openedName(id), 'null', { ttlMs, once: true });
    if (!isFirst && !resuming) throw unauthenticated('the ticket was opened before');
    // From now on it is stored for its reconnects.
    if (isFirst) await notes.put(nameOf(id), sealed, { ttlMs });
    let person = authenticator.receive(carried);
    this.#remember(id, person, expiresAt);
    return {
      person,
      renew: (renewed) => {
        person = renewed;
        this.#remember(id, renewed, expiresAt);
      },
      admit: (sessionIds) => this.#admit(id, [...sessionIds], expiresAt),
      serve: (stream) => this.#serve(id, stream, expiresAt),
      drop: () => this.#dropSoon(id),
    };
  }

  async #admit(id: string, asked: readonly string[], expiresAt: number): Promise<void> {
    const notes = this.#notes;
    const opened = JSON.parse((await notes.get(openedName(id))) ?? 'null') as readonly string[] | null;
    if (opened && asked.some((sessionId) => !opened.includes(sessionId)))
      throw unauthenticated('the ticket is for the stream of other sessions');
    const former = this.#served.get(id)?.stream;
    this.#served.set(id, { sessions: new Set(opened ?? asked), stream: null });
    if (!opened) return this.#keep(id, expiresAt);
    former?.supersede();
    // Two streams may come back with it at once, each at another gateway.
    await this.#options.errands.askAll(SUPERSEDE, id);
  }

  #serve(id: string, stream: TicketStream, expiresAt: number): (sessionId: string) => MaybePromise<void> {
    const served = this.#served.get(id) ?? { sessions: new Set<string>(), stream: null };
    served.stream = stream;
    this.#served.set(id, served);
    return (sessionId) => {
      const { sessions } = served;
      if (sessions.has(sessionId) || sessions.size >= SESSIONS) return;
      sessions.add(sessionId);
      if (this.#served.get(id) !== served) return;
      return this.#keep(id, expiresAt).catch((error: unknown) => this.#failed(error));
    };
  }

  async #keep(id: string, expiresAt: number): Promise<void> {
    const { sessions } = this.#served.get(id)!;
    const ttlMs = Math.max(1, expiresAt - this.#notes.time());
    await this.#notes.put(openedName(id), JSON.stringify([...sessions]), { ttlMs });
  }

  #supersede(id: string): void {
    const served = this.#served.get(id);
    this.#served.delete(id);
    served?.stream?.supersede();
  }

  #remember(id: string, person: Person, expiresAt: number): void {
    this.#forget(id);
    this.#sweep();
    this.#known.set(id, { person, expiresAt });
    const mine = this.#byUser.get(person.key) ?? new Set();
    this.#byUser.set(person.key, mine.add(id));
    const most = person.pays.kind === 'person' ? PER_USER : PER_MANY;
    const of = mine.size > most ? mine : this.#known.size > TOTAL ? this.#known : null;
    const [oldest] = of?.keys() ?? [];
    if (oldest !== undefined) this.#dropSoon(oldest);
  }

  #sweep(): void {
    const now = this.#notes.time();
    if (now - this.#sweptAt < OPEN_WITHIN_MS) return;
    this.#sweptAt = now;
    for (const [id, { expiresAt }] of this.#known) if (now >= expiresAt) this.#forget(id, true);
  }

  /** Invalidates the tickets of matching identities. */
  withdraw(matches: (person: Person) => boolean): void {
    for (const [id, { person }] of this.#known) if (matches(person)) this.#dropSoon(id);
  }

  /** @param over Whether nobody can come back with it any more. */
  #forget(id: string, over = false): void {
    const userKey = this.#known.get(id)?.person.key;
    this.#known.delete(id);
    if (over) this.#served.delete(id);
    if (userKey === undefined) return;
    const mine = this.#byUser.get(userKey);
    mine?.delete(id);
    if (mine?.size === 0) this.#byUser.delete(userKey);
  }

  async #drop(id: string): Promise<void> {
    this.#forget(id, true);
    await this.#notes.drop(nameOf(id));
  }

  #dropSoon(id: string): void {
    this.#drop(id).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#options.report(error, 'a note of a ticket could not be kept');
  }
}

const nameOf = (id: string): string => `ticket:${id}`;
const openedName = (id: string): string => `ticket:${id}:opened`;

/** A ticket has 256 random bits, so a plain derivation is enough. */
function keyOf(ticket: string): Buffer {
  return createHmac('sha256', ticket).update('what is kept of a ticket').digest();
}

function seal(ticket: string, kept: StoredTicket): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(ticket), iv);
  const text = Buffer.concat([cipher.update(JSON.stringify(kept)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
}

function unseal(ticket: string, sealed: string): StoredTicket {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(ticket), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return JSON.parse(
    Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString(),
  ) as StoredTicket;
}

/** A new ticket. */
function newTicket(): string {
  return `tkt_${randomBytes(32).toString('base64url')}`;
}

/** The id of a ticket: its hash. */
function idOf(ticket: string): string {
  return crypto.hash('sha256', ticket, 'base64');
}
