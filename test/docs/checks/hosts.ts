import 'reflect-metadata';
import type { AddressInfo, Server } from 'node:net';
import { serve } from '@hono/node-server';
import { NestFactory } from '@nestjs/core';
import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { closeLater } from '../../support/resources.js';
import type { Checks, Ran } from '../checks.js';
import { reach, standFor } from '../harbour.js';
import { app } from '../world.js';

const portOf = (server: unknown) => ((server as Server).address() as AddressInfo).port;

async function isReady(mount: string): Promise<void> {
  const response = await fetch(`${mount}/readyz`);
  expect(response.status, mount).to.equal(200);
}

/** Has Vite serve with the block's configuration: what it passes on arrives. */
export async function proxies({ exports }: Ran): Promise<void> {
  const { createServer } = await import('vite');
  const { proxy } = exports.default.server;
  const here = { '/agent': { ...proxy['/agent'], target: reach(proxy['/agent'].target) } };
  const server = { ...exports.default.server, proxy: here, port: 0 };
  const vite = await createServer({ configFile: false, logLevel: 'silent', ...exports.default, server });
  closeLater(vite, (it) => it.close());
  await vite.listen();
  await isReady(`http://127.0.0.1:${portOf(vite.httpServer)}/agent`.replace('127.0.0.1', 'localhost'));
}

/** The pages on hosts. */
export const HOSTS: Checks = {
  'docs/hosts.md#2': {
    after: async ({ exports }) => {
      await exports.fastify.listen({ port: 0, host: '127.0.0.1' });
      await isReady(`http://127.0.0.1:${portOf(exports.fastify.server)}/agent`);
      await exports.fastify.close();
    },
  },
  'docs/hosts.md#3': {
    after: async ({ exports }) => {
      const server = serve({ fetch: exports.hono.fetch, port: 0, hostname: '127.0.0.1' });
      await new Promise((resolve) => server.once('listening', resolve));
      await isReady(`http://127.0.0.1:${portOf(server)}/agent`);
      server.close();
    },
  },
  'docs/hosts.md#4': {
    after: async ({ exports }) => {
      expect(exports.url).to.match(/:\d+\/agent$/);
      await isReady(exports.url);
      await exports.standalone.close();
    },
  },
  'docs/hosts.md#5': { after: proxies },
  'docs/hosts.md#6': {
    after: async (ran) => {
      const gateway = closeLater(createGateway({ app, port: 0 }), (it) => it.close());
      standFor('http://127.0.0.1:3000', (await gateway.start()).url!);
      await proxies(ran);
    },
  },
  'docs/hosts.md#7': {
    after: async ({ exports }) => {
      const response = await exports.handle(new Request('http://127.0.0.1/api/agent/readyz'));
      expect(response.status).to.equal(200);
    },
  },
  'docs/nest.md#1': {
    after: async ({ exports }) => {
      const nest = await NestFactory.create(exports.AppModule, { logger: false });
      await nest.listen(0, '127.0.0.1');
      const mount = `http://127.0.0.1:${portOf(nest.getHttpServer())}`;
      const response = await fetch(`${mount}/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ sessionId: 'main', message: 'Hello' }),
      });
      // Nobody has logged in there.
      expect([200, 401]).to.contain(response.status);
      await nest.close();
    },
  },
};
