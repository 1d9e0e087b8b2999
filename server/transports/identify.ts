import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Authenticator } from '../auth/authenticate.js';
import { Shown } from '../auth/credentials.js';
import { unnamed } from '../auth/refusal.js';
import { isTicket, type ShownTicket, type Tickets } from '../auth/tickets.js';
import type { AuthRequest, Identity, UserLike } from '../auth/types.js';
import { asUnavailable } from '../log/unavailable.js';
import { checkCookieRequest } from './origin.js';

/** What a door finds out by who calls. */
export interface Identifying {
  readonly authenticator: Authenticator;
  /** Whether callers without an identity are served: then a host that names users has to name one. */
  readonly anonymous: boolean;
  /** Whether a request that carries only cookies may be authenticated. */
  readonly cookies: boolean;
}

/** What a caller shows beside its request. */
export interface Credential {
  readonly token: string | undefined;
  /** The user, where the host has authenticated the request itself; null where it found none. */
  readonly user: UserLike | null | undefined;
}

/** Who calls. @throws GatewayError `UNAUTHENTICATED`, `ORIGIN_DENIED` */
export function identify(
  { authenticator, anonymous, cookies }: Identifying,
  request: AuthRequest,
  { token, user }: Credential,
): MaybePromise<Identity> {
  if (user) return authenticator.identify(user);
  if (user === null && anonymous) throw unnamed();
  if (cookies && token === undefined) checkCookieRequest(request.headers);
  return authenticator.authenticate(new Shown(token, request));
}

/** Where tickets are shown, and who they are asked about. */
export interface TicketDoor {
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
}

/** The ticket that a caller shows, and whose it is; null where it shows none. @throws GatewayError `UNAUTHENTICATED` */
export async function redeem(
  { authenticator, tickets }: TicketDoor,
  { token, user }: Credential,
  options: { readonly resuming: boolean },
): Promise<{ readonly ticket: ShownTicket; readonly identity: Identity } | null> {
  if (token === undefined || user || !isTicket(token)) return null;
  const ticket = await asUnavailable(() => tickets.redeem(token, options));
  try {
    // What the holder once showed has to be good still.
    const identity = await authenticator.revalidate(ticket.identity);
    ticket.renew(identity);
    return { ticket, identity };
  } catch (error) {
    if (isGatewayError(error) && error.status === 401) ticket.drop();
    throw error;
  }
}
