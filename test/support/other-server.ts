import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeLater } from './resources.js';

/** Starts an HTTP server that is no gateway, and returns its address; it is closed after the test. */
export async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.close();
    it.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
