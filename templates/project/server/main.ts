import { fileURLToPath } from 'node:url';
import { createServer } from './server.js';

const { JWT_SECRET, GATEWAY_DB, PROXIES, PORT = '3000', HOST, NODE_ENV } = process.env;
if (!JWT_SECRET) throw new Error('JWT_SECRET is not set: see .env.example');

// Built, this file is beside the page; in development Vite serves that.
const isBuilt = import.meta.url.endsWith('.js');
const server = createServer({
  secret: JWT_SECRET,
  database: GATEWAY_DB || undefined,
  page: isBuilt ? fileURLToPath(new URL('../web', import.meta.url)) : undefined,
  proxies: Number(PROXIES ?? 0),
  playground: !isBuilt && NODE_ENV !== 'production',
});
const { url, close } = await server.listen(Number(PORT), HOST);
console.log(`Listening on ${url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await close();
    process.exit(0);
  });
}
