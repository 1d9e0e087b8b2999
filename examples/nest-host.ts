// A gateway inside a Nest application whose guard knows the users, with a controller of the host's own beside the default one.
//   npx tsx examples/nest-host.ts
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Module,
  Post,
  Req,
  Res,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { type App, defineApp } from 'agent-session-gateway';
import { GATEWAY_APP, GatewayModule, GatewayService, type HostResponse } from 'agent-session-gateway/nest';

interface HostRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string };
}

/** Stands for the host's own login. */
class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<HostRequest>();
    const id = request.headers['x-user'];
    if (id) request.user = { id };
    return id !== undefined;
  }
}

@Controller('report')
class ReportController {
  @Inject(GatewayService)
  private readonly gateway!: GatewayService;
  @Inject(GATEWAY_APP)
  private readonly app!: App;

  /** Has the app write, and streams what it writes. */
  @Post()
  write(@Res() response: HostResponse) {
    this.gateway.sendAndStream('report', 'Write the report', response);
  }

  @Get()
  read(@Req() { user }: HostRequest) {
    return this.app.session('report', { user: user! }).history();
  }
}

@Module({
  imports: [
    GatewayModule.forRoot({
      app: defineApp({
        async *run(turn) {
          for (const word of `You said: ${turn.text}`.split(' ')) yield `${word} `;
        },
      }),
      auth: { type: 'custom', cookies: false, validate: () => ({ valid: false }) },
      user: (request: HostRequest) => request.user,
      methods: { ping: async () => ({ pong: true }) },
    }),
  ],
  controllers: [ReportController],
  providers: [{ provide: APP_GUARD, useClass: LoginGuard }],
})
class HostModule {}

const host = await NestFactory.create(HostModule, { logger: ['error', 'warn'], forceCloseConnections: true });
host.setGlobalPrefix('api');
host.enableShutdownHooks();
await host.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(`Listening on ${await host.getUrl()}`);
