import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { httpGet, httpPost } from '../load/wire.js';
import { reply } from './application.js';
import { listen } from './listen.js';
import type { Peer } from './peer.js';

export const betterSse: Peer = {
  doors: {
    sse: (session) => ({ stages: [[httpGet(`/events?sessionId=${session}`), 'connected']] }),
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
  },

  async start({ port }) {
    const { createChannel, createSession } = await import('better-sse');
    const channels = new Map<string, any>();
    const server = createServer(async (request, response) => {
      const { url = '' } = request;
      if (url === '/send') {
        const { message } = JSON.parse(await text(request));
        const stream = await createSession(request, response);
        for await (const event of reply(message)) stream.push(event, 'content_delta');
        stream.push({}, 'message_end');
        response.end();
        return;
      }
      const session = url.slice(url.indexOf('=') + 1);
      const stream = await createSession(request, response);
      if (!channels.has(session)) channels.set(session, createChannel());
      channels.get(session).register(stream);
      stream.push({}, 'connected');
    });
    await listen(server, { port });
    return { emit: (session, event) => channels.get(session)?.broadcast(event, 'content_delta') };
  },
};
