import type { GatewayConfig } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

/** A gateway with every door open. @returns its address, and what opens a socket at each of its doors */
export async function startEveryDoor(config: GatewayConfig<any, any, any>) {
  const socketPath = `${socketDirectory()}/g.sock`;
  const { url } = await startGateway({ app: echo, socketPath, ...config });
  const opens: readonly (() => Promise<RawSocket>)[] = [
    () => openWebSocket(url),
    () => openUnixSocket(socketPath),
  ];
  return { url, opens };
}
