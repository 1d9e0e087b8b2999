import { Readable } from 'node:stream';
import { httpPost } from '../load/wire.js';
import { CALL, createTask, isAuthorized, reply, taskSchema } from './application.js';
import { SSE_END, sseEvent } from './listen.js';
import type { Peer } from './peer.js';

export const fastify: Peer = {
  doors: {
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
    invoke: () => ({ request: httpPost('/invoke', CALL) }),
  },

  async start({ port }) {
    const { default: createApp } = await import('fastify');
    const app = createApp();
    app.addHook('onRequest', async (request, answer) => {
      if (!isAuthorized(request.headers.authorization)) return answer.code(401).send({ error: 'auth' });
    });
    app.post<{ Body: { params: unknown } }>('/invoke', async (request, answer) => {
      const params = taskSchema.safeParse(request.body.params);
      if (params.success) return createTask(params.data);
      return answer.code(400).send({ error: 'params' });
    });
    app.post<{ Body: { message: string } }>('/send', (request, answer) => {
      answer.header('content-type', 'text/event-stream');
      return answer.send(Readable.from(streamed(request.body.message)));
    });
    await app.listen({ port, host: '127.0.0.1', backlog: 4096 });
    return {};
  },
};

async function* streamed(message: string): AsyncGenerator<string, void, undefined> {
  for await (const event of reply(message)) yield sseEvent(event);
  yield SSE_END;
}
