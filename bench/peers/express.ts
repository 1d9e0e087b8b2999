import type { Response } from 'express';
import { httpGet, httpPost } from '../load/wire.js';
import { CALL, createTask, isAuthorized, reply, taskSchema } from './application.js';
import { listen, SSE_CONNECTED, SSE_END, Subscribers, sseEvent } from './listen.js';
import type { Peer } from './peer.js';

export const express: Peer = {
  doors: {
    sse: (session) => ({ stages: [[httpGet(`/events?sessionId=${session}`), 'event: connected']] }),
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
    invoke: () => ({ request: httpPost('/invoke', CALL) }),
  },

  async start({ port }) {
    const { default: createApp, json } = await import('express');
    const { createServer } = await import('node:http');
    const subscribers = new Subscribers<Response>();
    const app = createApp();
    app.use((request, response, next) => {
      if (isAuthorized(request.headers.authorization)) next();
      else response.status(401).json({ error: 'auth' });
    });
    app.get('/events', (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(SSE_CONNECTED);
      subscribers.add(String(request.query.sessionId), response);
    });
    app.use(json());
    app.post('/invoke', (request, response) => {
      const params = taskSchema.safeParse(request.body.params);
      if (params.success) response.json(createTask(params.data));
      else response.status(400).json({ error: 'params' });
    });
    app.post('/send', async (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for await (const event of reply(request.body.message)) response.write(sseEvent(event));
      response.end(SSE_END);
    });
    await listen(createServer(app), { port });
    return {
      emit(session, event) {
        const text = sseEvent(event);
        for (const response of subscribers.of(session)) response.write(text);
      },
    };
  },
};
