import { balancedInProcess, balancedSse, balancedWebSocket } from './balanced.js';
import type { Door } from './door.js';
import { expressSse, expressWebSocket } from './express.js';
import { fastify, fetchDoor, hono } from './hosts.js';
import { nestDefaultExpress, nestDefaultFastify, nestOwnController } from './nest.js';
import { inProcess, sse, unixSocket, webSocket } from './own.js';

/** Every way in. */
export const DOORS: readonly Door[] = [
  sse,
  webSocket,
  unixSocket,
  inProcess,
  expressSse,
  expressWebSocket,
  fastify,
  hono,
  fetchDoor,
  nestDefaultExpress,
  nestDefaultFastify,
  nestOwnController,
  balancedSse,
  balancedWebSocket,
  balancedInProcess,
];
