import type { ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { sendJson } from '../conversation/answering.js';
import { only } from '../conversation/urls.js';
import type { McpSignIn } from './options.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Tells clients where their users sign in (RFC 9728), and what a token must be good for (RFC 6750). */
export class SignIn {
  readonly #options: McpSignIn;
  /** The path of the document, below the gateway's mount. */
  readonly path: string;
  readonly #address: string;

  /** @param path Path of the endpoint below the gateway's mount, with which `resource` ends */
  constructor(options: McpSignIn, path: string) {
    this.#options = options;
    this.path = `${WELL_KNOWN}${path}`;
    this.#address = `${options.resource.slice(0, options.resource.lastIndexOf(path))}${this.path}`;
  }

  /** Serves the document. It names nothing secret, and needs no token. */
  async serve(call: PluginRequest): Promise<void> {
    only('GET', call);
    if (call.path !== this.path) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    const { resource, authorizationServers, scopes = [] } = this.#options;
    sendJson(call.response, {
      resource,
      authorization_servers: authorizationServers,
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
    });
  }

  /** Finds the caller, whose token must have all scopes. @throws GatewayError `UNAUTHENTICATED`, `ACCESS_DENIED`: then the response has the challenge */
  async authenticate({ authenticate, request, response }: PluginRequest): Promise<Person> {
    let person: Person;
    try {
      person = await authenticate();
    } catch (error) {
      if (isGatewayError(error) && error.status === 401)
        this.#challenge(response, request.headers.authorization === undefined ? undefined : 'invalid_token');
      throw error;
    }
    const { scopes = [] } = this.#options;
    const granted = scopesOf(person);
    const missing = scopes.filter((scope) => !granted.has(scope));
    if (missing.length === 0) return person;
    this.#challenge(response, 'insufficient_scope');
    throw new GatewayError({
      code: 'ACCESS_DENIED',
      message: `The token lacks the scope ${missing.join(' ')}`,
    });
  }

  #challenge(response: ServerResponse, error: string | undefined): void {
    const { scopes = [] } = this.#options;
    const fields = {
      ...(error !== undefined && { error }),
      resource_metadata: this.#address,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    };
    const text = Object.entries(fields).map(([name, value]) => `${name}="${value}"`);
    response.setHeader('WWW-Authenticate', `Bearer ${text.join(', ')}`);
  }
}

/** The scopes of a token: `scope` as text (RFC 9068), or `scp` as text or a list, as some servers write it. */
function scopesOf({ user: { claims } }: Person): ReadonlySet<unknown> {
  const { scope, scp } = (claims ?? {}) as { readonly scope?: unknown; readonly scp?: unknown };
  return new Set(
    [scope, scp].flatMap((given) => (typeof given === 'string' ? given.split(' ') : (given ?? []))),
  );
}
