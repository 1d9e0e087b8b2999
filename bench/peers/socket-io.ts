import { createServer } from 'node:http';
import { wsFrame, wsUpgrade } from '../load/wire.js';
import { CALL, createTask, reply, TOKEN, taskSchema } from './application.js';
import { listen } from './listen.js';
import type { Peer, Script } from './peer.js';

const connected = (session: string): NonNullable<Script['stages']> => [
  [wsUpgrade('/socket.io/?EIO=4&transport=websocket'), 'pingInterval'],
  [wsFrame(`40${JSON.stringify({ sessionId: session, token: TOKEN })}`), '40{"sid"'],
];

export const socketIo: Peer = {
  doors: {
    ws: (session) => ({ stages: connected(session) }),
    sendWs: (message) => ({
      stages: connected('none'),
      request: wsFrame(`42${JSON.stringify(['send', message])}`),
    }),
    invokeWs: () => ({
      stages: connected('none'),
      request: wsFrame(`420${JSON.stringify(['invoke', CALL])}`),
    }),
  },

  async start({ port }) {
    const { Server } = await import('socket.io');
    const server = createServer();
    const io = new Server(server, {
      perMessageDeflate: false,
      transports: ['websocket'],
      serveClient: false,
    });
    io.use((socket: any, next: (error?: Error) => void) => {
      next(socket.handshake.auth.token === TOKEN ? undefined : new Error('auth'));
    });
    io.on('connection', (socket: any) => {
      socket.join(socket.handshake.auth.sessionId);
      socket.on('send', async (message: string) => {
        for await (const event of reply(message)) socket.emit('content_delta', event);
      });
      socket.on('invoke', (call: typeof CALL, answer: (result: object) => void) => {
        const params = taskSchema.safeParse(call.params);
        answer(params.success ? createTask(params.data) : { error: 'params' });
      });
    });
    await listen(server, { port });
    return { emit: (session, event) => io.to(session).emit('content_delta', event) };
  },
};
