// A Nest 11 application as another project has it, in plain JavaScript: `node host.mjs express|fastify`.
import { Controller, Inject, Module, Param, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { defineApp } from 'agent-session-gateway';
import { GATEWAY_APP, GatewayModule, GatewayService } from 'agent-session-gateway/nest';

class OwnController {
  async end(id, response) {
    const { messages } = await this.app.session(id).history();
    return { ...(await this.gateway.close(id, { response })), messages: messages.length };
  }
}
Controller('own')(OwnController);
Inject(GATEWAY_APP)(OwnController.prototype, 'app');
Inject(GatewayService)(OwnController.prototype, 'gateway');
Param('id')(OwnController.prototype, 'end', 0);
Res({ passthrough: true })(OwnController.prototype, 'end', 1);
Post(':id/end')(
  OwnController.prototype,
  'end',
  Object.getOwnPropertyDescriptor(OwnController.prototype, 'end'),
);

class HostModule {}
Module({
  imports: [
    GatewayModule.forRoot({
      app: defineApp({
        async *run(turn) {
          yield 'Nest 11 heard ';
          yield turn.text;
        },
      }),
      auth: { type: 'none' },
      methods: { ping: async () => ({ pong: true }) },
    }),
  ],
  controllers: [OwnController],
})(HostModule);

const adapter =
  process.argv[2] === 'fastify' ? new FastifyAdapter({ forceCloseConnections: true }) : new ExpressAdapter();
const host = await NestFactory.create(HostModule, adapter, {
  logger: ['error', 'warn'],
  // What is left after the gateway has drained: connections that browsers and clients hold ready.
  forceCloseConnections: true,
});
host.setGlobalPrefix('api');
host.enableShutdownHooks();
await host.listen(0, '127.0.0.1');
console.log(`Listening on ${await host.getUrl()}`);
