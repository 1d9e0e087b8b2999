import type { AuthConfig } from '../auth/types.js';

type Requirement = Readonly<Record<string, readonly string[]>>;

/** How callers authenticate, in OpenAPI's terms. */
export interface OpenApiSecurity {
  readonly security: readonly Requirement[];
  /** Security of the event stream, which a browser opens without headers. */
  readonly eventsSecurity: readonly Requirement[];
  readonly securitySchemes: Readonly<Record<string, object>>;
}

const BEARER: Requirement = { bearer: [] };
const QUERY: Requirement = { query: [] };
const COOKIE: Requirement = { cookie: [] };

const BEARER_SCHEME = { type: 'http', scheme: 'bearer' };
const QUERY_SCHEME = {
  type: 'apiKey',
  in: 'query',
  name: 'token',
  description: 'A token, or a ticket of `POST /ticket`',
};
const COOKIE_SCHEME = {
  type: 'apiKey',
  in: 'cookie',
  name: 'cookie',
  description: "Whichever cookie the host's own code reads; the name stands for it",
};

/** The security of a gateway by the kind of its authentication. */
export function openApiSecurity(auth: AuthConfig['type']): OpenApiSecurity {
  if (auth === 'none') return { security: [], eventsSecurity: [], securitySchemes: {} };
  const bearer = auth === 'jwt' ? { ...BEARER_SCHEME, bearerFormat: 'JWT' } : BEARER_SCHEME;
  const custom = auth === 'custom';
  return {
    // The host's own code may let in callers without credentials.
    security: custom ? [BEARER, COOKIE, {}] : [BEARER],
    eventsSecurity: custom ? [BEARER, QUERY, COOKIE, {}] : [BEARER, QUERY],
    securitySchemes: { bearer, query: QUERY_SCHEME, ...(custom && { cookie: COOKIE_SCHEME }) },
  };
}
