/** Names of errors by which `jsonwebtoken` says that a token is bad. */
const NAMES = new Set(['JsonWebTokenError', 'TokenExpiredError', 'NotBeforeError']);
/** Codes by which `jose` says so; `ERR_JWKS_TIMEOUT` is not one of them. */
const CODES = /^ERR_(?:JWT|JWS|JWE)_|^ERR_JWKS_NO_MATCHING_KEY$|^ERR_JOSE_ALG_NOT_ALLOWED$/;

/** Whether an error of host code is a library's word that the token itself is bad, rather than that nobody could find out. */
export function saysBadToken(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  try {
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
    return (typeof name === 'string' && NAMES.has(name)) || (typeof code === 'string' && CODES.test(code));
  } catch {
    // A getter of its own.
    return false;
  }
}
