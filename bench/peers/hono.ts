import type { SSEStreamingApi } from 'hono/streaming';
import { httpGet, httpPost } from '../load/wire.js';
import { CALL, createTask, isAuthorized, reply, taskSchema } from './application.js';
import { Subscribers } from './listen.js';
import type { Peer } from './peer.js';

export const hono: Peer = {
  doors: {
    sse: (session) => ({ stages: [[httpGet(`/events?sessionId=${session}`), 'event: connected']] }),
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
    invoke: () => ({ request: httpPost('/invoke', CALL) }),
  },

  async start({ port }) {
    const [{ Hono }, { serve }, { streamSSE }] = await Promise.all([
      import('hono'),
      import('@hono/node-server'),
      import('hono/streaming'),
    ]);
    const subscribers = new Subscribers<SSEStreamingApi>();
    const app = new Hono();
    app.use('*', async (context, next) => {
      if (!isAuthorized(context.req.header('authorization'))) return context.json({ error: 'auth' }, 401);
      await next();
    });
    app.get('/events', (context) =>
      streamSSE(context, async (stream) => {
        await stream.writeSSE({ event: 'connected', data: '{}' });
        subscribers.add(context.req.query('sessionId')!, stream);
        await new Promise(() => {});
      }),
    );
    app.post('/invoke', async (context) => {
      const params = taskSchema.safeParse((await context.req.json()).params);
      return params.success ? context.json(createTask(params.data)) : context.json({ error: 'params' }, 400);
    });
    app.post('/send', async (context) => {
      const { message } = await context.req.json();
      return streamSSE(context, async (stream) => {
        for await (const event of reply(message))
          await stream.writeSSE({ event: 'content_delta', data: JSON.stringify(event) });
        await stream.writeSSE({ event: 'message_end', data: '{}' });
      });
    });
    await new Promise<void>((resolve) => {
      serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve());
    });
    return {
      emit(session, event) {
        const data = JSON.stringify(event);
        for (const stream of subscribers.of(session)) void stream.writeSSE({ event: 'content_delta', data });
      },
    };
  },
};
