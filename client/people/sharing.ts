import type { Grant, Shared, ShareParams } from '../../shared/grants.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** The grants of a session. */
export interface SessionSharing {
  /**
   * Gives somebody access to the session: a user of the same tenant, or anybody with the link. They reach it under `grant.sessionId`.
   *
   * @throws GatewayError `INVALID_PARAMS` naming the field: a role above one's own, oneself, a link if the gateway allows none;
   *   `QUOTA_EXCEEDED` beyond `limits.grantsPerSession`; `SESSION_NOT_FOUND`
   */
  share(grant: Omit<ShareParams, 'sessionId'>, options?: SignalOptions): Promise<Shared>;
  /** Ends a grant, if it exists, and all connections that use it. */
  unshare(grantId: string, options?: SignalOptions): Promise<void>;
  /** The grants, the oldest first. @throws GatewayError `SESSION_NOT_FOUND` */
  grants(options?: SignalOptions): Promise<readonly Grant[]>;
}

/**
 * The grants of a session of a client.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const main = sessionSharing(client, 'main');
 * const { grant } = await main.share({ with: { userId: 'ben' }, as: 'viewer', hide: ['reasoning'] });
 * await main.unshare(grant.grantId);
 * ```
 */
export function sessionSharing(client: Pick<Client, 'connection'>, sessionId: string): SessionSharing {
  const call = coreOf.get(client)?.call;
  if (!call) throw misused('sessionSharing needs a client of createClient');
  return {
    share: (grant, options) => call('share', { ...options, ...grant, sessionId }),
    async unshare(grantId, options) {
      await call('unshare', { ...options, grantId, sessionId });
    },
    grants: async (options) => (await call('grants', { ...options, sessionId })).grants,
  };
}
