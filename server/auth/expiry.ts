/** The expiry of a token, for its owner: by this clock, and as a duration, since owners' clocks may be wrong. */
export function authExpiry(
  expiresAt: number | undefined,
): { readonly authExpiresAt: number; readonly authExpiresInMs: number } | undefined {
  return expiresAt === undefined
    ? undefined
    : { authExpiresAt: expiresAt, authExpiresInMs: Math.max(0, expiresAt - Date.now()) };
}
