import { createHash } from 'node:crypto';
import type { UserContext } from '../../shared/contract.js';
import type { Authenticator, AuthRefusal } from '../auth/authenticate.js';
import { unauthenticated } from '../auth/refusal.js';
import type { Credentials, Identity } from '../auth/types.js';
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

  authenticate(credentials: Credentials): ReturnType<Authenticator['authenticate']> {
    const { token } = credentials;
    if (!token?.startsWith(LINK)) return this.#inner.authenticate(credentials);
    const link = TOKEN.exec(token)?.[1];
    // A token of the host's own may begin likewise.
    if (link === undefined && this.#options.asksHost) return this.#inner.authenticate(credentials);
    return this.#guest(token, link, credentials);
  }

  // Nobody guesses 256 bits, so a link that is not there (any more) counts against no address: others there may have good ones.
  async #guest(token: string, link: string | undefined, { request }: Credentials): Promise<Identity> {
    const { ip, requestId } = request;
    await this.#options.ready();
    const found = link === undefined ? null : await this.#options.grants.ofLink(link);
    if (found) return guestOf(found, token);
    const reason = 'there is no such share link';
    this.#options.onRefused({
      ...{ code: 'UNAUTHENTICATED', reason, address: ip },
      ...(requestId !== undefined && { requestId }),
    });
    throw unauthenticated(reason);
  }

  revalidate(identity: Identity): ReturnType<Authenticator['revalidate']> {
    return identity.guest ? this.#again(identity) : this.#inner.revalidate(identity);
  }

  async #again(identity: Identity): Promise<Identity> {
    if (await this.#options.grants.find(identity.guest!.grantId)) return identity;
    throw unauthenticated('the share link is not valid any more');
  }

  carry(identity: Identity): ReturnType<Authenticator['carry']> {
    return this.#inner.carry(identity);
  }

  receive(carried: Parameters<Authenticator['receive']>[0]): Identity {
    return this.#inner.receive(carried);
  }
}

/** The identity of a guest. Many guests may have one link, so their limits are those of a shared identity. */
function guestOf({ kept: { grant, givenBy } }: FoundGrant, token: string): Identity {
  const { grantId, expiresAt, by } = grant;
  const id = `guest_${createHash('sha256').update(`guest ${token}`).digest('base64url').slice(0, 16)}`;
  return {
    user: { id, roles: [] } as unknown as UserContext,
    // Three parts, so that it differs from the scope of every user and tenant.
    scope: JSON.stringify(['guest', grantId, id]),
    userKey: JSON.stringify(['guest', grantId, id]),
    shared: true,
    guest: { grantId, givenBy: givenBy ?? by },
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
