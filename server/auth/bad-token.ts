/** Codes by which `jose` says that a token is bad; `ERR_JWKS_TIMEOUT` is not one of them. */
const CODES = /^ERR_(?:JWT|JWS|JWE)_|^ERR_JWKS_NO_MATCHING_KEY$|^ERR_JOSE_ALG_NOT_ALLOWED$/;
/** Those of a token that is not good yet, or no more. */
const UNTIMELY = new Set(['TokenExpiredError', 'NotBeforeError', 'ERR_JWT_EXPIRED']);

/**
 * What an error says of a token, if it is a library's word that the token itself is bad rather than that nobody could find out. What is
 * `untimely` has a good signature, which is looked at first: no guess, but a tab that was left open over night.
 */
export function badnessOf(error: unknown): 'untimely' | 'wrong' | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    const { name, code, claim, reason } = error as Readonly<Record<string, unknown>>;
    const isEarly =
      code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'nbf' && reason === 'check_failed';
    if (isEarly || UNTIMELY.has(name as string) || UNTIMELY.has(code as string)) return 'untimely';
    const says = name === 'JsonWebTokenError' || (typeof code === 'string' && CODES.test(code));
    return says ? 'wrong' : undefined;
  } catch {
    // A getter of its own.
    return undefined;
  }
}
