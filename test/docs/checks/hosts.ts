import 'reflect-metadata';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { closeLater } from '../../support/resources.js';
import type { Check, Checks, Ran } from '../checks.js';
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

/** A block that has a server listen: the gateway behind it answers. */
const serves = (serverOf: (exports: Ran['exports']) => Server): Check => ({
  after: async ({ exports }) => {
    const server = serverOf(exports);
    if (!server.listening) await once(server, 'listening');
    await isReady(`http://127.0.0.1:${portOf(server)}/agent`);
    await exports.gateway?.close();
    server.close();
  },
});

/** The pages on hosts. */
export const HOSTS: Checks = {
  'docs/hosts.md#2': serves(({ server }) => server),
  'docs/hosts.md#3': serves(({ server }) => server),
  'docs/hosts.md#4': {
    after: async ({ exports }) => {
      await isReady(`http://127.0.0.1:${portOf(exports.fastify.server)}/agent`);
      await exports.fastify.close();
    },
  },
  'docs/hosts.md#5': serves(({ server }) => server),
  'docs/hosts.md#6': {
    after: async ({ exports }) => {
      await isReady(`http://127.0.0.1:${portOf(exports.nest.getHttpServer())}/agent/_gateway`);
      await exports.nest.close();
    },
  },
  'docs/hosts.md#7': {
    after: async ({ exports }) => {
      const response = await exports.GET(new Request('http://127.0.0.1/agent/readyz'));
      expect(response.status).to.equal(200);
      await exports.gateway.close();
    },
  },
  'docs/hosts.md#8': {
    after: async ({ exports }) => {
      expect(exports.url).to.match(/:\d+\/agent$/);
      await isReady(exports.url);
      await exports.standalone.close();
    },
  },
  'docs/hosts.md#9': { after: proxies },
  'docs/hosts.md#10': {
    after: async (ran) => {
      const gateway = closeLater(createGateway({ app, port: 0 }), (it) => it.close());
      standFor('http://127.0.0.1:3000', (await gateway.start()).url!);
      await proxies(ran);
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
