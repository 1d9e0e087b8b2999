import { EventEmitter, on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { httpGet, httpPost, wsFrame, wsUpgrade } from '../load/wire.js';
import { CALL, createTask, isAuthorized, TOKEN, taskSchema } from './application.js';
import { listen } from './listen.js';
import type { Peer } from './peer.js';

const events = (session: string): string =>
  `/events?input=${encodeURIComponent(JSON.stringify({ sessionId: session }))}`;

export const trpc: Peer = {
  doors: {
    sse: (session) => ({ stages: [[httpGet(events(session)), 'event: connected']] }),
    invoke: () => ({ request: httpPost('/create', CALL.params) }),
    invokeWs: () => ({
      stages: [[wsUpgrade(`/?token=${TOKEN}`), '\r\n\r\n']],
      request: wsFrame(
        JSON.stringify({ id: 7, method: 'mutation', params: { path: 'create', input: CALL.params } }),
      ),
    }),
  },

  async start({ port }) {
    const { initTRPC, TRPCError } = await import('@trpc/server');
    const { createHTTPServer } = await import('@trpc/server/adapters/standalone');
    const { applyWSSHandler } = await import('@trpc/server/adapters/ws');
    const { WebSocketServer } = await import('ws');
    const emitter = new EventEmitter().setMaxListeners(0);
    const { middleware, procedure, router: createRouter } = initTRPC.context().create();
    const authorized = procedure.use(
      middleware(({ ctx, next }: any) => {
        if (!ctx.isAuthorized) throw new TRPCError({ code: 'UNAUTHORIZED' });
        return next();
      }),
    );
    const router = createRouter({
      create: authorized.input(taskSchema).mutation(({ input }: any) => createTask(input)),
      events: authorized.input(z.object({ sessionId: z.string() })).subscription(async function* ({
        input,
        signal,
      }: any) {
        for await (const [event] of on(emitter, input.sessionId, { signal })) yield event;
      }),
    });
    const createContext = ({ req }: { readonly req: IncomingMessage }) => ({
      isAuthorized: isAuthorized(req.headers.authorization) || req.url?.endsWith(`token=${TOKEN}`),
    });
    const server = createHTTPServer({ router, createContext });
    applyWSSHandler({ wss: new WebSocketServer({ server }), router, createContext });
    await listen(server, { port });
    return { emit: (session, event) => emitter.emit(session, event) };
  },
};
