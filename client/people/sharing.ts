import type { Grant, Shared, ShareParams } from '../../shared/grants.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** With whom a session is shared. */
export interface SessionSharing {
  /**
   * Has somebody else reach the session: a user of the same tenant, or whoever has the link. They do under `grant.sessionId`.
   *
   * @throws GatewayError `INVALID_PARAMS` naming the field: a role above one's own, oneself, a link where there are none;
   *   `QUOTA_EXCEEDED` beyond `limits.grantsPerSession`; `SESSION_NOT_FOUND`
   */
  share(grant: Omit<ShareParams, 'sessionId'>, options?: SignalOptions): Promise<Shared>;
  /** Ends a grant, if there is one, and what is open by it. */
  unshare(grantId: string, options?: SignalOptions): Promise<void>;
  /** The oldest first. @throws GatewayError `SESSION_NOT_FOUND` */
  grants(options?: SignalOptions): Promise<readonly Grant[]>;
}

/**
 * With whom a session of a client is shared.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
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
