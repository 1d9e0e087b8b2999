import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import express from 'express';
import { openApiSecurity } from '../../server/documents/security.js';
import { type AuthConfig, gatewayMiddleware } from '../../server/index.js';
import { EVENTS_PATH } from '../../shared/calls.js';
import { FILES_PATH } from '../../shared/files/contract.js';
import { HEALTH_PATHS, OPERATIONS } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { as } from '../support/users.js';
import { describedMethods } from './fixture.js';
import { lookUp, references } from './validator.js';

const SECRET = 'a-secret-of-more-than-thirty-two-bytes';
const byRole: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: async (token = '') => ({
    valid: true,
    user: { id: token || 'nobody', roles: token === 'root' ? ['admin'] : [] },
  }),
};
const AUTHS: Readonly<Record<'none' | 'token' | 'custom', AuthConfig>> = {
  none: { type: 'none' },
  token: { type: 'token', token: SECRET },
  custom: byRole,
};

/** The document as a caller of a fresh gateway gets it. */
async function documentOf(
  config: Parameters<typeof startGateway>[0],
  user = 'root',
  prefix = '',
): Promise<any> {
  const { url } = await startGateway({ auth: byRole, ...config });
  const { status, body } = await get(`${url}${prefix}/openapi.json`, as(user));
  expect(status).to.equal(200);
  return body;
}

async function lint(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config,
  });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`,
  );
}

const full = { app: echo, methods: describedMethods };

describe('GET /openapi.json', () => {
  it('passes the recommended rules of its linter, whatever the gateway is', async () => {
    expect(await lint(await documentOf(full))).to.deep.equal([]);
    expect(await lint(await documentOf(full, 'alice'))).to.deep.equal([]);
    expect(await lint(await documentOf({ app: echo, extraRoutes: '/a/b' }, 'root', '/a/b'))).to.deep.equal(
      [],
    );
  });

  it('would not pass if it were wrong', async () => {
    const document = await documentOf(full);
    document.paths['/send'].post.requestBody.content['application/json'].schema = {
      $ref: '#/components/schemas/none',
    };
    delete document.paths['/apps'].get.responses;
    expect(await lint(document)).to.have.length.above(1);
  });

  it('refers to nothing but its own parts', async () => {
    const all = references(await documentOf(full));
    expect(all.length).to.be.above(100);
    expect(all.filter(({ found }) => !found)).to.deep.equal([]);
  });

  it('has every route of the table, by its HTTP method, and no other', async () => {
    const { paths } = await documentOf(full);
    const routes = Object.entries(paths).map(([path, item]) => `${Object.keys(item as object)} ${path}`);
    const table = Object.values(OPERATIONS).map(({ http, path }) => `${http.toLowerCase()} ${path}`);
    const others = [EVENTS_PATH, ...Object.values(HEALTH_PATHS)].map((path) => `get ${path}`);
    const files = [`post ${FILES_PATH}`, `get ${FILES_PATH}/{fileId}`];
    expect(routes).to.have.members([...table, ...others, ...files]);
  });

  it('has only routes that the gateway serves, wherever they were moved', async () => {
    const { url } = await startGateway({ ...full, auth: byRole, extraRoutes: '/_gateway' });
    const { body } = await get(`${url}/_gateway/openapi.json`, as('root'));
    for (const [path, item] of Object.entries<any>(body.paths)) {
      const method = Object.keys(item)[0]!;
      // Neither method of the route: the answer names the one it has.
      const response = await fetch(url + path, { method: 'DELETE', headers: as('root') });
      expect([response.status, response.headers.get('allow')?.split(',')[0]], path).to.deep.equal([
        405,
        method.toUpperCase(),
      ]);
    }
    const extra = Object.values(OPERATIONS)
      .filter(({ extra }) => extra)
      .map(({ path }) => `/_gateway${path}`);
    expect(Object.keys(body.paths)).to.include.members(extra);
    const { url: bare } = await startGateway({ app: echo, extraRoutes: false });
    expect((await get(`${bare}/openapi.json`)).status).to.equal(404);
  });

  it('names the mount by a path that is relative to the document', async () => {
    const router = gatewayMiddleware({ app: echo, extraRoutes: '/_gateway', auth: { type: 'none' } });
    closeLater(router.gateway, (it) => it.close());
    const url = await listenOnLoopback(express().use('/deep/agent', router));
    const at = `${url}/deep/agent/_gateway/openapi.json`;
    const { body } = await get(at);
    const mount = new URL(body.servers[0].url, at).href.replace(/\/$/, '');
    expect(mount).to.equal(`${url}/deep/agent`);
    expect((await get(`${mount}/_gateway/apps`)).status).to.equal(200);
    const plain = await documentOf({ app: echo });
    expect(new URL(plain.servers[0].url, 'http://h/agent/openapi.json').href).to.equal('http://h/agent/');
  });

  it('has each method with its schema, and only those whose roles the caller holds', async () => {
    const root = await documentOf(full);
    const alice = await documentOf(full, 'alice');
    const named = (document: any): string[] => Object.keys(document.paths['/invoke'].post['x-methods']);
    expect(named(root)).to.include('tasks:admin:archive');
    expect(named(root).filter((path) => !named(alice).includes(path))).to.deep.equal(['tasks:admin:archive']);
    expect(JSON.stringify(alice)).to.not.match(/archive(?!d)/);
    const { discriminator, oneOf } =
      root.paths['/invoke'].post.requestBody.content['application/json'].schema;
    expect(Object.keys(discriminator.mapping)).to.deep.equal(named(root));
    expect(oneOf.map(({ $ref }: any) => $ref)).to.have.members(Object.values(discriminator.mapping));
    for (const [path, ref] of Object.entries<string>(discriminator.mapping))
      expect(lookUp(root, ref).properties.method.const).to.equal(path);
    const { params, result, description } = root.paths['/invoke'].post['x-methods']['tasks:create'];
    expect(description).to.equal('Adds a task');
    expect(lookUp(root, params.$ref).properties.title).to.deep.equal({ type: 'string', minLength: 1 });
    expect(lookUp(root, result.$ref).required).to.deep.equal(['id']);
  });

  it('says whether params are needed, and why a schema is missing', async () => {
    const document = await documentOf(full);
    const required = (name: string): boolean =>
      document.components.schemas[`call.${name}`].required.includes('params');
    expect(required('tasks.create')).to.equal(true);
    expect(required('tasks.find')).to.equal(false);
    expect(required('ping')).to.equal(false);
    expect(document.paths['/invoke'].post['x-methods'].date.problem).to.contain('params: ');
  });

  it('asks for the credentials that the gateway asks for', async () => {
    const securityOf = async (type: keyof typeof AUTHS) => {
      const headers = type === 'token' ? as(SECRET) : {};
      const { url } = await startGateway({ app: echo, auth: AUTHS[type] });
      const { body } = await get(`${url}/openapi.json`, headers);
      return {
        security: body.security,
        events: body.paths['/events'].get.security,
        live: body.paths['/healthz'].get.security,
      };
    };
    expect(await securityOf('none')).to.deep.equal({ security: [], events: [], live: [] });
    expect(await securityOf('token')).to.deep.equal({
      security: [{ bearer: [] }],
      events: [{ bearer: [] }, { query: [] }],
      live: [],
    });
    expect((await securityOf('custom')).security).to.deep.equal([{ bearer: [] }, { cookie: [] }, {}]);
    expect(openApiSecurity('jwt').securitySchemes.bearer).to.include({ bearerFormat: 'JWT' });
  });

  it('is for authenticated callers, like any list', async () => {
    const { url } = await startGateway({ app: echo });
    expect((await fetch(`${url}/openapi.json`)).status).to.equal(401);
    const { status, headers } = await get(`${url}/openapi.json`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
  });

  it('requires a body where an operation is refused without one', async () => {
    const { url } = await startGateway({ auth: byRole, ...full });
    const { body: document } = await get(`${url}/openapi.json`, as('root'));
    for (const [name, { http, path }] of Object.entries(OPERATIONS)) {
      if (http === 'GET') continue;
      const answer = await fetch(`${url}${path}`, { method: 'POST', ...as('root') });
      const { error } = (await answer.json()) as { readonly error?: { readonly code: string } };
      const { required } = document.paths[path].post.requestBody;
      expect(required, name).to.equal(error?.code === 'INVALID_PARAMS');
    }
  });
});
