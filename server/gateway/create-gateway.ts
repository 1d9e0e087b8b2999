import type { MethodTree } from '../../shared/method.js';
import type { Application } from '../apps/application.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import { Gateway, type GivenMethods } from './gateway.js';

// No default for `Methods`: with one, an unannotated handler parameter would get the type `any` from it.
/**
 * Makes a gateway.
 *
 * @throws GatewayError `INVALID_REQUEST` naming each wrong field
 *
 * @example
 * ```ts
 * const gateway = createGateway({
 *   app,
 *   auth: { type: 'token', token: process.env.GATEWAY_TOKEN! },
 *   methods: { ping: async () => ({ pong: true }) },
 * });
 * const { url } = await gateway.start();
 * ```
 */
export function createGateway<
  Methods extends MethodTree,
  Channels extends PayloadSchemas = Readonly<Record<never, never>>,
  Events extends PayloadSchemas = Readonly<Record<never, never>>,
  Single extends Application = never,
  Many extends Readonly<Record<string, Application>> = Readonly<Record<never, never>>,
>(
  config: GatewayConfig<Methods, Channels, Events, Single, Many>,
): Gateway<GivenMethods<Methods>, Channels, Events, Single | Many[keyof Many]> {
  return new Gateway(config) as never;
}
