import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { closeLater } from './resources.js';

/** Listens on a free port of loopback with a server of a test's own; it is closed after the test. Returns its URL. */
export function listenOnLoopback(listener: RequestListener): Promise<string> {
  return listenWith(createServer(listener));
}

/** The same with a server that is there already. */
export async function listenWith(server: Server): Promise<string> {
  return `http://127.0.0.1:${await portOf(server)}`;
}

/** The same with a server of any protocol, whose port is returned. */
export async function portOf(server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
