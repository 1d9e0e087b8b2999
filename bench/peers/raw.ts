import { rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { httpGet, httpPost } from '../load/wire.js';
import { CALL, createDelta, createTask, isAuthorized, reply, taskSchema } from './application.js';
import { listen, SSE_CONNECTED, SSE_END, Subscribers, sseEvent } from './listen.js';
import type { Peer } from './peer.js';

type Variant = '' | 'socket' | 'joined';

/**
 * node:http and node:net by themselves: what a gateway can cost at the least. Events of a session are
 *
 * - ``: written by `response.write`, a Buffer that is made once; chunk framing for each subscriber;
 * - `socket`: written to the sockets under the responses, without chunk framing;
 * - `joined`: the same, all events of one tick in one Buffer.
 */
export const raw: Peer = {
  doors: {
    sse: (session) => ({ stages: [[httpGet(`/events?sessionId=${session}`), 'event: connected']] }),
    unix: (session) => ({ stages: [[`${JSON.stringify({ sessionId: session })}\n`, '"ok"']] }),
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
    invoke: () => ({ request: httpPost('/invoke', CALL) }),
    replay: () => ({ request: httpGet('/replay') }),
  },

  async start({ port, socketPath, variant }) {
    const responses = new Subscribers<ServerResponse | Socket>();
    const lines = new Subscribers<Socket>();
    const pages: Buffer[] = [];
    const server = createHttpServer(async (request, response) => {
      const { url = '' } = request;
      if (url.startsWith('/events')) subscribe(responses, variant as Variant, request, response);
      else if (!isAuthorized(request.headers.authorization)) response.writeHead(401).end();
      else if (url === '/replay') await replay(pages, response);
      else if (url === '/invoke') invoke(await text(request), response);
      else await send(await text(request), response);
    });
    await listen(server, { port });
    rmSync(socketPath, { force: true });
    const unix = createServer((socket) => {
      socket.once('data', (line) => {
        lines.add(JSON.parse(String(line)).sessionId, socket);
        socket.write('{"ok":true}\n');
      });
      socket.on('error', () => {});
    });
    await listen(unix, { path: socketPath });

    const write = (session: string, event: string): void => {
      const bytes = Buffer.from(event);
      for (const each of responses.of(session)) each.write(bytes);
    };
    const joined = new Map<string, string>();
    const flush = (): void => {
      for (const [session, events] of joined) write(session, events);
      joined.clear();
    };
    return {
      emit(session, event) {
        if (variant !== 'joined') write(session, sseEvent(event));
        else {
          if (joined.size === 0) process.nextTick(flush);
          joined.set(session, (joined.get(session) ?? '') + sseEvent(event));
        }
        const sockets = lines.of(session);
        if (sockets.length === 0) return;
        const line = Buffer.from(`${JSON.stringify({ type: 'event', sessionId: session, data: event })}\n`);
        for (const socket of sockets) socket.write(line);
      },
      store(events) {
        let page = '';
        for (let n = 0; n < events; n++) {
          page += `id: ${n}\n${sseEvent(createDelta())}`;
          if (page.length < 65_536 && n < events - 1) continue;
          pages.push(Buffer.from(page));
          page = '';
        }
      },
    };
  },
};

function subscribe(
  to: Subscribers<ServerResponse | Socket>,
  variant: Variant,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const session = request.url!.slice(request.url!.indexOf('=') + 1);
  const isBare = variant !== '';
  if (isBare) {
    response.useChunkedEncodingByDefault = false;
    response.setHeader('Connection', 'close');
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.write(SSE_CONNECTED);
  to.add(session, isBare ? request.socket : response);
}

function invoke(body: string, response: ServerResponse): void {
  const params = taskSchema.safeParse(JSON.parse(body).params);
  if (!params.success) {
    response.writeHead(400).end();
    return;
  }
  const result = JSON.stringify(createTask(params.data));
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(result),
  });
  response.end(result);
}

async function send(body: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for await (const event of reply(JSON.parse(body).message)) {
    if (!response.write(sseEvent(event))) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(SSE_END);
}

async function replay(pages: readonly Buffer[], response: ServerResponse): Promise<void> {
  response.useChunkedEncodingByDefault = false;
  response.setHeader('Connection', 'close');
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  const socket = response.socket!;
  for (const page of pages)
    if (!socket.write(page)) await new Promise((resolve) => socket.once('drain', resolve));
}
