import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { MaybePromise } from '../async/maybe-promise.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { Notes } from '../stores/shared-store.js';
import type { Authenticator, CarriedIdentity } from './authenticate.js';
import { unauthenticated } from './refusal.js';
import {
  type IssuedTicket,
  idOf,
  MAX_AGE_MS,
  newTicket,
  OPEN_WITHIN_MS,
  PER_USER,
  SESSIONS,
  type ShownTicket,
  type TicketDesk,
  type TicketStream,
  TOTAL,
} from './tickets.js';
import type { Identity } from './types.js';

/** What is kept of a ticket, sealed with the ticket itself. */
interface Kept {
  readonly carried: CarriedIdentity;
  readonly expiresAt: number;
}

/** A ticket whose stream is, or was last, served here. */
interface Served {
  readonly sessions: Set<string>;
  stream: TicketStream | null;
}

/** The stream of a ticket is served elsewhere now. */
const SUPERSEDE = errand<string, void>('supersede');

export interface SharedTicketsOptions {
  readonly notes: Notes;
  readonly errands: Errands;
  readonly authenticator: Pick<Authenticator, 'carry' | 'receive'>;
  report(error: unknown, what: string): void;
}

/**
 * Tickets of gateways that share a store: one that is issued by any of them is opened, and resumed, at any other. The store has the hash of
 * a ticket and what is sealed with it, so that whoever reads the store gets no credentials from it. The bounds for users count what was
 * issued here.
 */
export class SharedTickets implements TicketDesk {
  readonly #options: SharedTicketsOptions;
  /** Whose tickets were issued or used here, the oldest first. */
  readonly #known = new Map<string, { readonly identity: Identity; readonly expiresAt: number }>();
  readonly #byUser = new Map<string, Set<string>>();
  readonly #served = new Map<string, Served>();
  #sweptAt = Date.now();

  constructor(options: SharedTicketsOptions) {
    this.#options = options;
    options.errands.on(SUPERSEDE, (id) => this.#supersede(id));
  }

  async issue(identity: Identity): Promise<IssuedTicket> {
    const ticket = newTicket();
    const id = idOf(ticket);
    const expiresAt = Math.min(identity.expiresAt ?? Number.POSITIVE_INFINITY, Date.now() + MAX_AGE_MS);
    const sealed = seal(ticket, { carried: this.#options.authenticator.carry(identity), expiresAt });
    const ttlMs = Math.max(1, Math.min(OPEN_WITHIN_MS, expiresAt - Date.now()));
    await this.#options.notes.put(nameOf(id), sealed, { ttlMs });
    this.#remember(id, identity, expiresAt);
    return { ticket, expiresAt };
  }

  async redeem(ticket: string, { resuming }: { readonly resuming: boolean }): Promise<ShownTicket> {
    const { notes, authenticator } = this.#options;
    const id = idOf(ticket);
    const sealed = await notes.get(nameOf(id));
    if (sealed === null) throw unauthenticated('unknown ticket');
    const { carried, expiresAt } = unseal(ticket, sealed);
    const ttlMs = expiresAt - Date.now();
    if (ttlMs <= 0) {
      await this.#drop(id);
      throw unauthenticated('expired ticket');
    }
    const isFirst = await notes.put(openedName(id), 'null', { ttlMs, once: true });
    if (!isFirst && !resuming) throw unauthenticated('the ticket was opened before');
    // From now on it is kept for its reconnects.
    if (isFirst) await notes.put(nameOf(id), sealed, { ttlMs });
    let identity = authenticator.receive(carried);
    this.#remember(id, identity, expiresAt);
    return {
      identity,
      renew: (renewed) => {
        identity = renewed;
        this.#remember(id, renewed, expiresAt);
      },
      admit: (sessionIds) => this.#admit(id, [...sessionIds], expiresAt),
      serve: (stream) => this.#serve(id, stream, expiresAt),
      drop: () => this.#dropSoon(id),
    };
  }

  async #admit(id: string, asked: readonly string[], expiresAt: number): Promise<void> {
    const { notes, errands } = this.#options;
    const opened = JSON.parse((await notes.get(openedName(id))) ?? 'null') as readonly string[] | null;
    if (opened && asked.some((sessionId) => !opened.includes(sessionId)))
      throw unauthenticated('the ticket is for the stream of other sessions');
    const former = this.#served.get(id)?.stream;
    this.#served.set(id, { sessions: new Set(opened ?? asked), stream: null });
    if (!opened) return this.#keep(id, expiresAt);
    former?.supersede();
    // Two may come back with it at once, each at another gateway.
    await errands.askAll(SUPERSEDE, id);
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
    const ttlMs = Math.max(1, expiresAt - Date.now());
    await this.#options.notes.put(openedName(id), JSON.stringify([...sessions]), { ttlMs });
  }

  #supersede(id: string): void {
    const served = this.#served.get(id);
    this.#served.delete(id);
    served?.stream?.supersede();
  }

  #remember(id: string, identity: Identity, expiresAt: number): void {
    this.#forget(id);
    this.#sweep();
    this.#known.set(id, { identity, expiresAt });
    const mine = this.#byUser.get(identity.userKey) ?? new Set();
    this.#byUser.set(identity.userKey, mine.add(id));
    const of = mine.size > PER_USER ? mine : this.#known.size > TOTAL ? this.#known : null;
    const [oldest] = of?.keys() ?? [];
    if (oldest !== undefined) this.#dropSoon(oldest);
  }

  #sweep(): void {
    const now = Date.now();
    if (now - this.#sweptAt < OPEN_WITHIN_MS) return;
    this.#sweptAt = now;
    for (const [id, { expiresAt }] of this.#known) if (now >= expiresAt) this.#forget(id, true);
  }

  withdraw(matches: (identity: Identity) => boolean): void {
    for (const [id, { identity }] of this.#known) if (matches(identity)) this.#dropSoon(id);
  }

  /** @param over Nobody comes back with it any more. */
  #forget(id: string, over = false): void {
    const userKey = this.#known.get(id)?.identity.userKey;
    this.#known.delete(id);
    if (over) this.#served.delete(id);
    if (userKey === undefined) return;
    const mine = this.#byUser.get(userKey);
    mine?.delete(id);
    if (mine?.size === 0) this.#byUser.delete(userKey);
  }

  async #drop(id: string): Promise<void> {
    this.#forget(id, true);
    await this.#options.notes.drop(nameOf(id));
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

/** A ticket has 256 random bits: what is derived of it needs no more. */
function keyOf(ticket: string): Buffer {
  return createHmac('sha256', ticket).update('what is kept of a ticket').digest();
}

function seal(ticket: string, kept: Kept): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(ticket), iv);
  const text = Buffer.concat([cipher.update(JSON.stringify(kept)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
}

function unseal(ticket: string, sealed: string): Kept {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(ticket), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return JSON.parse(
    Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString(),
  ) as Kept;
}
