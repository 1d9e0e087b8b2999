import { All, Controller, Inject, Req, Res, type Type } from '@nestjs/common';
import type { HostResponse } from './exchange.js';
import { GatewayService } from './gateway-service.js';
import { basePathOf, type RoutedRequest } from './mount.js';

/** Prefix of the routes that the specification does not list. */
export const EXTRA_ROUTES = '/_gateway';

/**
 * The default controller. It serves the specification's routes as the gateway itself would, and the others below `/_gateway`. Extend it to
 * serve them with your own path, guards and interceptors.
 */
@Controller()
export class GatewayController {
  @Inject(GatewayService)
  protected readonly service!: GatewayService;

  @All('events')
  events(@Res() response: HostResponse): void {
    this.service.serve('events', response);
  }

  @All('send')
  send(@Res() response: HostResponse): void {
    this.service.serve('send', response);
  }

  @All('invoke')
  invoke(@Res() response: HostResponse): void {
    this.service.serve('invoke', response);
  }

  @All('subscribe')
  subscribe(@Res() response: HostResponse): void {
    this.service.serve('subscribe', response);
  }

  @All('abort')
  abort(@Res() response: HostResponse): void {
    this.service.serve('abort', response);
  }

  @All('close')
  close(@Res() response: HostResponse): void {
    this.service.serve('close', response);
  }

  @All('tool-response')
  toolResponse(@Res() response: HostResponse): void {
    this.service.serve('tool-response', response);
  }

  @All('channel')
  channel(@Res() response: HostResponse): void {
    this.service.serve('channel', response);
  }

  @All(['_gateway/:route', '_gateway/:route/:fileId'])
  extra(@Req() request: RoutedRequest, @Res() response: HostResponse): void {
    this.service.handle(response, { basePath: basePathOf(request, [EXTRA_ROUTES]) });
  }
}

// Express and Fastify spell wildcards differently, but parameters alike.
const BELOW = ['', '/:a', '/:a/:b', '/:a/:b/:c'];

/** A controller for routes of plugins, each with up to three segments below it. */
export function pluginController(paths: readonly string[]): Type {
  @Controller()
  class PluginController {
    @Inject(GatewayService)
    private readonly service!: GatewayService;

    @All(paths.flatMap((path) => BELOW.map((rest) => path + rest)))
    serve(@Req() request: RoutedRequest, @Res() response: HostResponse): void {
      this.service.handle(response, { basePath: basePathOf(request, paths) });
    }
  }
  return PluginController;
}
