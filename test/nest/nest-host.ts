import { type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { closeLater } from '../support/resources.js';

export interface Platform {
  readonly name: string;
  adapter(): AbstractHttpAdapter;
}

export const PLATFORMS: readonly Platform[] = [
  { name: 'Express', adapter: () => new ExpressAdapter() },
  { name: 'Fastify', adapter: () => new FastifyAdapter({ forceCloseConnections: true }) },
];

/** A Nest application on loopback; it is closed after the test. */
export interface NestHost {
  readonly host: INestApplication;
  readonly url: string;
}

export async function startNest(
  { adapter }: Platform,
  metadata: ModuleMetadata,
  configure: (host: INestApplication) => void = () => {},
): Promise<NestHost> {
  @Module(metadata)
  class HostModule {}
  const host: INestApplication = await NestFactory.create(HostModule, adapter(), {
    logger: false,
    abortOnError: false,
    // Clients open connections ahead, which a server that closes waits for: it takes only used ones for idle.
    forceCloseConnections: true,
  });
  configure(host);
  closeLater(host, (it) => it.close());
  await host.listen(0, '127.0.0.1');
  return { host, url: await host.getUrl() };
}
