import { balancedInProcess, balancedSse, balancedWebSocket } from './balanced.js';
import type { Door } from './door.js';
import { expressSse, expressWebSocket } from './express.js';
import { fastify, fetchDoor, hono } from './hosts.js';
import { nestDefaultExpress, nestDefaultFastify, nestOwnController } from './nest.js';
import { inProcess, sse, unixSocket, webSocket } from './own.js';

/** The ways in of the package itself, by one host, and over several gateways: tried at each change. */
export const DOORS: readonly Door[] = [sse, webSocket, unixSocket, inProcess, expressSse, balancedSse];

/** The other hosts, and the other ways over several gateways. */
export const MORE_DOORS: readonly Door[] = [
  expressWebSocket,
  fastify,
  hono,
  fetchDoor,
  nestDefaultExpress,
  nestDefaultFastify,
  nestOwnController,
  balancedWebSocket,
  balancedInProcess,
];
