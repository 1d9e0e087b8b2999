import {
  Body,
  Controller,
  Get,
  type INestApplication,
  Inject,
  Module,
  Param,
  Post,
  Query,
  Res,
  type Type,
} from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { GatewayConfig, PlainOperation } from '../../../server/index.js';
import { GATEWAY, GatewayModule, GatewayService, type HostResponse } from '../../../server/nest/index.js';
import { closeLater } from '../../support/resources.js';
import { type ServedGateway, throughHost } from './door.js';

/** Controllers of a host that words its routes itself, each the path that clients know. */
@Controller()
class OwnController {
  @Inject(GatewayService)
  private readonly gateway!: GatewayService;

  @Get('events')
  events(
    @Query() query: { sessionId?: string | string[]; from?: 'now'; lastEventId?: string },
    @Res() response: HostResponse,
  ) {
    const { sessionId = [], from, lastEventId } = query;
    this.gateway.createConnection(response, { sessionIds: [sessionId].flat(), from, lastEventId });
  }

  @Post('subscribe')
  async subscribe(@Body() body: any, @Res({ passthrough: true }) response: HostResponse) {
    const { connectionId, add = [], remove = [] } = body;
    // What goes beyond the plain list is the operation's own.
    if (remove.length > 0) await this.gateway.unsubscribe(connectionId, remove, { response });
    return this.gateway.subscribe(connectionId, add, { response });
  }

  @Post('send')
  send(@Body() { sessionId, message, ...options }: any, @Res() response: HostResponse) {
    this.gateway.sendAndStream(sessionId, message, response, options);
  }

  @Post('invoke')
  invoke(@Body() params: any, @Res() response: HostResponse) {
    this.gateway.serve('invoke', response, { params });
  }

  @Post('abort')
  abort(@Body() { sessionId, reason }: any, @Res({ passthrough: true }) response: HostResponse) {
    return this.gateway.abort(sessionId, reason, { response });
  }

  @Post('close')
  close(@Body() { sessionId }: any, @Res({ passthrough: true }) response: HostResponse) {
    return this.gateway.close(sessionId, { response });
  }

  @Post('channel')
  async channel(@Body() body: any, @Res({ passthrough: true }) response: HostResponse) {
    const { sessionId, channel, type, payload } = body;
    await this.gateway.publishToChannel(sessionId, channel, type, payload, { response });
    return { ok: true };
  }

  @Post('tool-response')
  answer(@Body() params: any, @Res() response: HostResponse) {
    this.gateway.serve('tool-response', response, { params });
  }

  @Post('more/:operation')
  change(@Param('operation') operation: PlainOperation, @Body() params: any, @Res() response: HostResponse) {
    this.gateway.serve(operation, response, { params });
  }

  @Get('more/:operation')
  more(@Param('operation') operation: PlainOperation, @Query() params: any, @Res() response: HostResponse) {
    this.gateway.serve(operation, response, { params });
  }
}

async function serve(
  adapter: AbstractHttpAdapter,
  module: Parameters<typeof GatewayModule.forRoot>[0],
  controllers: Type[] = [],
): Promise<Omit<ServedGateway, 'extraRoutes'>> {
  @Module({ imports: [GatewayModule.forRoot(module)], controllers })
  class HostModule {}
  const host: INestApplication = await NestFactory.create(HostModule, adapter, {
    logger: false,
    forceCloseConnections: true,
  });
  host.setGlobalPrefix('api');
  closeLater(host, (it) => it.close());
  await host.listen(0, '127.0.0.1');
  return { gateway: host.get(GATEWAY), url: `${await host.getUrl()}/api` };
}

/** What the gateway's own configuration says, without what only a standalone one takes. */
const optionsOf = ({ port: _port, ...config }: GatewayConfig) => config;

const nestDefault = (name: string, adapter: () => AbstractHttpAdapter) =>
  throughHost(`Nest on ${name}`, async (config) => ({
    ...(await serve(adapter(), optionsOf(config))),
    extraRoutes: '/_gateway',
  }));

export const nestDefaultExpress = nestDefault('Express', () => new ExpressAdapter());
export const nestDefaultFastify = nestDefault('Fastify', () => new FastifyAdapter());

export const nestOwnController = throughHost('Nest on Fastify, own controller', async (config) => ({
  ...(await serve(new FastifyAdapter(), { ...optionsOf(config), registerController: false }, [
    OwnController,
  ])),
  extraRoutes: '/more',
}));
