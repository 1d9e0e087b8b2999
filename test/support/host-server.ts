import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeLater } from './resources.js';

/** Listens on a free port of loopback with a host's own server; it is closed after the test. Returns its URL. */
export function listenOnLoopback(listener: RequestListener): Promise<string> {
  return listenWith(createServer(listener));
}

/** The same with a server that is there already. */
export async function listenWith(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  closeLater(server, (it) => {
    it.close();
    it.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
