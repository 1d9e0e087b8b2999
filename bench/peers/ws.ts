import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { wsFrame, wsUpgrade } from '../load/wire.js';
import { CALL, createTask, type Delta, reply, TOKEN, taskSchema } from './application.js';
import { listen, Subscribers } from './listen.js';
import type { Peer, Script } from './peer.js';

const connected = (session: string): NonNullable<Script['stages']> => [
  [wsUpgrade('/ws'), '\r\n\r\n'],
  [wsFrame(JSON.stringify({ type: 'subscribe', sessionId: session, token: TOKEN })), '"ok"'],
];

/** The package ws: `send` of a text for each subscriber, or with `frame` one frame, made once, to the sockets under them. */
export const ws: Peer = {
  doors: {
    ws: (session) => ({ stages: connected(session) }),
    sendWs: (message) => ({
      stages: connected('none'),
      request: wsFrame(JSON.stringify({ type: 'send', message })),
    }),
    invokeWs: () => ({
      stages: connected('none'),
      request: wsFrame(JSON.stringify({ type: 'req', id: 'r1', ...CALL })),
    }),
  },

  async start({ port, variant }) {
    const { WebSocketServer } = await import('ws');
    const subscribers = new Subscribers<WebSocket>();
    const server = createServer();
    new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
      let isAllowed = false;
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.type === 'subscribe') {
          isAllowed = message.token === TOKEN;
          subscribers.add(message.sessionId, socket);
          socket.send('{"type":"res","ok":true}');
        } else if (isAllowed && message.type === 'send') {
          void answer(socket, message.message, variant === 'frame');
        } else if (isAllowed) {
          const params = taskSchema.safeParse(message.params);
          const payload = params.success ? createTask(params.data) : undefined;
          socket.send(JSON.stringify({ type: 'res', id: message.id, ok: params.success, payload }));
        }
      });
    });
    await listen(server, { port });
    return {
      emit(session, event) {
        const text = eventText(session, event);
        if (variant !== 'frame') for (const socket of subscribers.of(session)) socket.send(text);
        else {
          const frame = unmasked(text);
          for (const socket of subscribers.of(session))
            (socket as any as { _socket: Socket })._socket.write(frame);
        }
      },
    };
  },
};

const eventText = (sessionId: string, data: Delta): string =>
  JSON.stringify({ type: 'event', event: 'content_delta', sessionId, data });

async function answer(socket: WebSocket, message: string, bare: boolean): Promise<void> {
  for await (const event of reply(message)) {
    const text = eventText('run', event);
    if (bare) (socket as any as { _socket: Socket })._socket.write(unmasked(text));
    else socket.send(text);
  }
}

function unmasked(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  return Buffer.concat([
    Buffer.from(length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 255]),
    payload,
  ]);
}
