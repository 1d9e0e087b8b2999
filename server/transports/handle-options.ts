import type { UserLike } from '../auth/types.js';

/** How a host hands a request over. */
export interface HandleOptions {
  /** The user, where the host has authenticated the request itself. */
  readonly user?: UserLike | undefined;
  /** Path below which the gateway is mounted, for hosts that strip nothing. */
  readonly basePath?: string | undefined;
}
