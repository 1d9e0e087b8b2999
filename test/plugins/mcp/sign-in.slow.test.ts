import { createServer } from 'node:http';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
// @ts-expect-error it brings no types
import Provider from 'oidc-provider';
import { defineApp, tool } from '../../../server/index.js';
import { portOf } from '../../support/host-server.js';
import { startMcp } from './mcp-clients.js';

const app = defineApp({
  run: () => 'unused',
  tools: { whoami: tool({ handler: (_input, { user }) => `you are ${user!.id}` }) },
});

const REDIRECT = 'http://127.0.0.1:9/callback';

/** An authorization server, which signs in whoever comes as one user, and agrees to everything. */
async function startIssuer(resource: () => string, granted = 'tools:call') {
  let serve!: (request: any, response: any) => void;
  const port = await portOf(createServer((request, response) => serve(request, response)));
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'tools:call'],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource(),
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: granted,
          audience: resource(),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_: unknown, { uid }: any) => `/interaction/${uid}` },
  } as never) as any;
  provider.proxy = false;
  const callback = provider.callback();
  serve = async (request, response) => {
    if (!request.url.startsWith('/interaction/')) return callback(request, response);
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
    if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '));
    for (const [indicator, scopes] of Object.entries<string[]>(missingResourceScopes))
      grant.addResourceScope(indicator, scopes.join(' '));
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  };
  return { issuer, jwksUri: `${issuer}/jwks` };
}

/** What a browser does at an address: follows, with its cookies, until it is sent back to the client. */
async function browse(start: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = start;
  for (let hop = 0; hop < 20; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!;
      if (value === '') cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const next = response.headers.get('location');
    if (next === null) throw new Error(`${response.status} ${await response.text()}`);
    at = new URL(next, at);
    if (at.href.startsWith(REDIRECT)) return at;
  }
  throw new Error('too many redirects');
}

/** What an application of the official client keeps for its user. */
function keeper() {
  const kept: Record<string, any> = {};
  let sent!: (url: URL) => void;
  const asked = new Promise<URL>((resolve) => {
    sent = resolve;
  });
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      client_name: 'A client',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url: URL) => sent(url),
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
  };
  return { provider, kept, asked };
}

/** A gateway whose tokens an authorization server of the test's own gives. */
async function start(options: { readonly scopes?: readonly string[]; readonly granted?: string } = {}) {
  const { scopes = ['tools:call'], granted } = options;
  let resource = 'http://127.0.0.1/mcp';
  const issuer = await startIssuer(() => resource, granted);
  const port = await freePort();
  resource = `http://127.0.0.1:${port}/mcp`;
  const auth = { type: 'jwt', jwksUri: issuer.jwksUri, issuer: issuer.issuer, audience: resource } as const;
  const signIn = { resource, authorizationServers: [issuer.issuer], scopes };
  const gateway = await startMcp({ app, auth, port } as any, { signIn });
  return { ...gateway, issuer, resource };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The official clients; their types differ in what the test does not look at. */
const CLIENTS = [
  ['the sdk of version 1', ClientV1, TransportV1, (back: URLSearchParams) => back.get('code')],
  ['the client of version 2', ClientV2, TransportV2, (back: URLSearchParams) => back],
] as unknown as readonly (readonly [
  string,
  new (info: object) => any,
  new (url: URL, options: object) => any,
  (back: URLSearchParams) => unknown,
])[];

describe('signing in to MCP', () => {
  for (const [name, Client, Transport, resultOf] of CLIENTS) {
    it(`is found out, done and used by ${name}, unmodified`, async () => {
      const { url, resource, issuer } = await start();
      expect(url).to.equal(resource);
      const { provider, kept, asked } = keeper();
      const transport = () => new Transport(new URL(url), { authProvider: provider });
      const first = transport();
      const refused = await new Client({ name: 'a', version: '1' })
        .connect(first)
        .catch((error: any) => error);
      expect(refused.constructor.name).to.equal('UnauthorizedError');
      const address = await asked;
      expect(address.origin).to.equal(issuer.issuer);
      expect(address.searchParams.get('resource')).to.equal(resource);
      expect(address.searchParams.get('scope')).to.contain('tools:call');
      await first.finishAuth(resultOf((await browse(address)).searchParams));
      expect(kept.tokens.access_token).to.be.a('string');
      const client = new Client({ name: 'a', version: '1' });
      await client.connect(transport());
      const { content } = await client.callTool({ name: 'whoami', arguments: {} });
      expect(content[0].text).to.equal('you are ann');
      await client.close();
    });
  }
});
