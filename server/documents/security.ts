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

/** How callers authenticate, in AsyncAPI's terms. */
export interface AsyncApiSecurity {
  readonly http: readonly object[];
  readonly socket: readonly object[];
  readonly securitySchemes: Readonly<Record<string, object>>;
}

const FRAME_SCHEME = { type: 'apiKey', in: 'password', description: 'The `token` of the `connect` frame' };

/** The same for the document of events and frames. */
export function asyncApiSecurity(auth: AuthConfig['type']): AsyncApiSecurity {
  const { securitySchemes } = openApiSecurity(auth);
  const schemes = Object.entries(securitySchemes).map(([name, scheme]) => [
    name,
    { ...scheme, ...('name' in scheme && { type: 'httpApiKey' }) },
  ]);
  if (auth === 'none') return { http: [], socket: [], securitySchemes: {} };
  const refs = (names: readonly string[]): object[] =>
    names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  return {
    http: refs(Object.keys(securitySchemes)),
    socket: refs(['frame']),
    securitySchemes: { ...Object.fromEntries(schemes), frame: FRAME_SCHEME },
  };
}
