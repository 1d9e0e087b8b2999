/** Codes by which `jose` marks a bad token. `ERR_JWKS_TIMEOUT` is not one of them. */
const CODES = /^ERR_(?:JWT|JWS|JWE)_|^ERR_JWKS_NO_MATCHING_KEY$|^ERR_JOSE_ALG_NOT_ALLOWED$/;
/** Codes of a token that is not good yet, or no longer. */
const UNTIMELY = new Set(['TokenExpiredError', 'NotBeforeError', 'ERR_JWT_EXPIRED']);

/**
 * Classifies an error of a library that judged the token itself as bad; undefined if the token could not be checked. An `untimely` token
 * has a good signature, which is checked first: it is no guess, but perhaps a tab that stayed open over night.
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
    // A getter of the error may throw.
    return undefined;
  }
}
