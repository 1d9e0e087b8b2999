export type { HostResponse } from './exchange.js';
export { GatewayController } from './gateway-controller.js';
export { GatewayErrorFilter } from './gateway-error-filter.js';
export { GatewayModule } from './gateway-module.js';
export {
  type ActAs,
  type AsUser,
  type ConnectionOptions,
  GatewayService,
  type StreamOptions,
} from './gateway-service.js';
export type {
  ControllerOptions,
  GatewayFactoryResult,
  GatewayHostOptions,
  GatewayModuleAsyncOptions,
  OwnGatewayOptions,
  ReadyGatewayOptions,
} from './options.js';
export { GATEWAY, GATEWAY_APP, getAppToken } from './tokens.js';
