import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gatewayMiddleware } from 'agent-session-gateway';
import { playgroundPlugin } from 'agent-session-gateway/plugins/playground';
import { sqliteStore } from 'agent-session-gateway/stores/sqlite';
import express from 'express';
import { app } from './app.js';
import { createVisitors } from './visitors.js';

export interface ServerOptions {
  /** Signs cookies of visitors and tokens of programs. */
  readonly secret: string;
  /** File of the conversations; without it they are in memory. */
  readonly database?: string | undefined;
  /** Folder of the built page; without it the page is Vite's. */
  readonly page?: string | undefined;
  /** How many proxies are in front: each says for whom it asks. */
  readonly proxies?: number | undefined;
  /** Serves the gateway's playground too. */
  readonly playground?: boolean;
}

/** The gateway below `/agent`, beside the page. */
export function createServer({ secret, database, page, proxies = 0, playground = false }: ServerOptions) {
  const visitors = createVisitors(secret);
  const gateway = gatewayMiddleware(
    {
      app,
      // Programs show a token; `npx agent-session-gateway token jwt --sub ann` makes one.
      auth: { type: 'jwt', secret },
      ...(proxies > 0 && { trustProxy: proxies }),
      ...(database && { store: sqliteStore({ path: database }) }),
    },
    { user: visitors.userOf },
  );
  if (playground) gateway.gateway.use(playgroundPlugin());

  const host = express().disable('x-powered-by').set('trust proxy', proxies);
  host.post('/visitor', (request, response) => {
    if (!visitors.userOf(request)) response.setHeader('Set-Cookie', visitors.newCookie(request.secure));
    response.status(204).end();
  });
  host.use('/agent', gateway);
  if (page) host.use(express.static(page));

  return {
    gateway,
    /** Resolves with the URL once it listens. Port 0 takes a free one. */
    async listen(port: number, address = '127.0.0.1') {
      await gateway.gateway.start();
      const server = host.listen(port, address);
      gateway.attach(server);
      await once(server, 'listening');
      const close = async (): Promise<void> => {
        // First the gateway: it lets answers finish, and tells clients to come back.
        await gateway.gateway.close();
        server.close();
        server.closeAllConnections();
      };
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
    },
  };
}

/** What the page's client takes its types from. */
export type Gateway = ReturnType<typeof createServer>['gateway'];
