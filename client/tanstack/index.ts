export {
  type GatewayConnection,
  gatewayConnection,
  type SendContext,
  type TanStackGiven,
} from './gateway-connection.js';
