import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Authenticator } from '../auth/authenticate.js';
import { ShownCredentials } from '../auth/credentials.js';
import { unnamed } from '../auth/refusal.js';
import { isTicket, type ShownTicket, type Tickets } from '../auth/tickets.js';
import type { AuthRequest, Person, UserLike } from '../auth/types.js';
import { asUnavailable } from '../log/unavailable.js';
import { checkCookieRequest } from './origin.js';

/** The parts of the gateway that find a caller's identity. */
export interface IdentityParts {
  readonly authenticator: Authenticator;
  /** Whether callers without an identity are served. A host that authenticates requests itself must still name a user. */
  readonly anonymous: boolean;
  /** Whether a request that carries only cookies may be authenticated. */
  readonly cookies: boolean;
}

/** The credentials of a caller, beside the request itself. */
export interface Credential {
  readonly token: string | undefined;
  /** The user, if the host has authenticated the request itself; null if it found none. */
  readonly user: UserLike | null | undefined;
}

/** Finds the caller's identity. @throws GatewayError `UNAUTHENTICATED`, `ORIGIN_DENIED` */
export function identify(
  { authenticator, anonymous, cookies }: IdentityParts,
  request: AuthRequest,
  { token, user }: Credential,
): MaybePromise<Person> {
  // False and '' are no way to name nobody: they are a host's mistake, and let nobody in.
  if (user != null) return authenticator.identifyNamed(user, request);
  if (user === null && anonymous) throw unnamed();
  if (cookies && token === undefined) checkCookieRequest(request.headers);
  return authenticator.authenticate(new ShownCredentials(token, request));
}

/** The parts of the gateway that redeem tickets. */
export interface TicketDoor {
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
}

/** The caller's ticket and its holder's identity; null if the caller shows no ticket. @throws GatewayError `UNAUTHENTICATED` */
export async function redeem(
  { authenticator, tickets }: TicketDoor,
  { token, user }: Credential,
  options: { readonly resuming: boolean },
): Promise<{ readonly ticket: ShownTicket; readonly person: Person } | null> {
  if (token === undefined || user || !isTicket(token)) return null;
  const ticket = await asUnavailable(() => tickets.redeem(token, options));
  try {
    // The credentials that the ticket was issued for must still be valid.
    const person = await authenticator.revalidate(ticket.person);
    ticket.renew(person);
    return { ticket, person };
  } catch (error) {
    if (isGatewayError(error) && error.status === 401) ticket.drop();
    throw error;
  }
}
