import { createHash } from 'node:crypto';
import type { UserContext } from '../../shared/contract.js';
import { cut } from '../../shared/cut.js';
import type { Authenticator, AuthRefusal } from '../auth/authenticate.js';
import { unauthenticated } from '../auth/refusal.js';
import type { Credentials, Person } from '../auth/types.js';
import { guestKey } from './grant-record.js';
import type { FoundGrant, Grants } from './grants.js';

/** Prefix of the token of a share link. */
export const LINK = 'lnk_';
/** A link's token, optionally followed by a dot and a text that distinguishes its guests. */
const TOKEN = /^(lnk_[A-Za-z0-9_-]{43})(?:\.[A-Za-z0-9_-]{1,64})?$/;

export interface GuestOptions {
  readonly grants: Grants;
  /** Whether the inner authenticator tells callers apart by their tokens. Else no other token that begins as a link's is asked of it. */
  readonly asksHost: boolean;
  /** Resolves once the store is open; null if it is. */
  ready(): Promise<void> | null;
  /** Called for each caller who showed a link and was refused. */
  onRefused(refusal: AuthRefusal): void;
}

/** Extends an authenticator with the tokens of share links, whose bearers are guests. */
export function withGuests(inner: Authenticator, options: GuestOptions): Authenticator {
  return new GuestAuthenticator(inner, options);
}

class GuestAuthenticator implements Authenticator {
  readonly #inner: Authenticator;
  readonly #options: GuestOptions;

  constructor(inner: Authenticator, options: GuestOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  get identify(): Authenticator['identify'] {
    return this.#inner.identify;
  }

  identifyNamed(...named: Parameters<Authenticator['identifyNamed']>): Person {
    return this.#inner.identifyNamed(...named);
  }

  authenticate(credentials: Credentials): ReturnType<Authenticator['authenticate']> {
    const { token } = credentials;
    if (!token?.startsWith(LINK)) return this.#inner.authenticate(credentials);
    const link = TOKEN.exec(token)?.[1];
    // A token of the host's own may begin likewise.
    if (link === undefined && this.#options.asksHost) return this.#inner.authenticate(credentials);
    return this.#guest(token, link, credentials);
  }

  // Nobody guesses 256 bits, so a link that is not there (any more) counts against no address: others there may have good ones.
  async #guest(token: string, link: string | undefined, { request }: Credentials): Promise<Person> {
    const { ip, requestId } = request;
    await this.#options.ready();
    const found = link === undefined ? null : await this.#options.grants.ofLink(link);
    if (found)
      return {
        ...guestOf(found, { id: guestId(token), roles: [] } as unknown as UserContext),
        id: guestId(link!),
      };
    const reason = 'there is no such share link';
    this.#options.onRefused({
      ...{ code: 'UNAUTHENTICATED', reason, address: ip },
      ...(requestId !== undefined && { requestId }),
    });
    throw unauthenticated(reason);
  }

  revalidate(person: Person): ReturnType<Authenticator['revalidate']> {
    return person.link ? this.#again(person) : this.#inner.revalidate(person);
  }

  async #again(person: Person): Promise<Person> {
    if (await this.#options.grants.find(person.link!.grantId)) return person;
    throw unauthenticated('the share link is not valid any more');
  }

  carry(person: Person): ReturnType<Authenticator['carry']> {
    return this.#inner.carry(person);
  }

  receive(carried: Parameters<Authenticator['receive']>[0]): Person {
    return this.#inner.receive(carried);
  }
}

/**
 * A guest. All who bear a link are one person, who pays as one, whatever stands behind the dot of the token: that is only the name by which
 * the senders of messages are told apart.
 */
export function guestOf({ home, kept: { grant, givenBy } }: FoundGrant, user: UserContext): Person {
  const { grantId, expiresAt, by } = grant;
  const key = guestKey(grantId);
  return {
    ...{ user, id: user.id, key, scope: key },
    pays: { key, kind: 'link', within: JSON.stringify(['links', home.scope]) },
    link: { grantId, givenBy: givenBy ?? by, scope: home.scope },
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

const guestId = (token: string): string =>
  `guest_${cut(createHash('sha256').update(`guest ${token}`).digest('base64url'), 16)}`;
