// Stands for Next.js: finds the handler by method and path, and gives it a web Request.
//   npx tsx examples/route-handlers/server.ts
import { serve } from '@hono/node-server';
import { gateway } from './gateway.js';
import * as route from './route.js';

const server = serve(
  {
    hostname: '127.0.0.1',
    port: Number(process.env.PORT ?? 3000),
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      const handle = (route as Record<string, unknown>)[request.method];
      if (pathname.startsWith('/api/agent/') && typeof handle === 'function') return handle(request);
      return new Response('The host’s own page');
    },
  },
  ({ port }) => console.log(`Listening on http://127.0.0.1:${port}`),
);
process.once('SIGTERM', async () => {
  await gateway.close();
  server.close();
  if ('closeAllConnections' in server) server.closeAllConnections();
});
