import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports of servers whose tests run at the same time are not to be given out by the system meanwhile: those are above these. */
const [LOWEST, HIGHEST] = [10_240, 32_767];

/** A port of loopback that nobody listens on, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
