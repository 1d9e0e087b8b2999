import { expect } from 'chai';
import WebSocket from 'ws';
import { exportSession } from '../../client/history/index.js';
import { createClient, webSocketTransport } from '../../client/index.js';
import { createInProcessTransport, defineApp } from '../../server/index.js';
import { collect, failure } from '../support/client.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { until } from '../support/until.js';

const app = defineApp({
  async *run(turn) {
    yield `echo ${turn.text}`;
  },
});

describe('whole sessions, through the client', () => {
  const open = async () => {
    const { gateway, url } = await startGateway({ app, clientMessages: { import: true } });
    return { gateway, options: { baseUrl: url, token: TOKEN } };
  };

  it('are exported, imported and deleted over every transport, and the others see it', async () => {
    const { gateway, options } = await open();
    const user = { id: 'token' };
    const clients = {
      sse: createClient(options),
      websocket: createClient({
        transport: webSocketTransport({ ...options, WebSocket: WebSocket as never }),
      }),
      'in process': createClient({ transport: createInProcessTransport(gateway, { user }) }),
    };
    for (const [name, client] of Object.entries(clients)) {
      await client.send('main', 'hi').result;
      const watch = clients.sse.session('main').watch();
      const stop = watch.subscribe(() => {});
      await until(() => watch.getSnapshot().messages.length === 2);
      if (name !== 'in process') {
        const messages = await collect(exportSession(options, 'main'));
        expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
        const events = await collect(exportSession(options, 'main', { what: 'events' }));
        expect(events.at(-1)?.type).to.equal('message_end');
        const place = await client.session('copy').import(messages, { title: 'A copy' });
        expect(place).to.include({ sessionId: 'copy', tip: messages[1]!.id });
        expect((await client.session('copy').state()).title).to.equal('A copy');
        const again = await failure(client.session('copy').import([{ content: 'other' }]));
        expect(again).to.include({ code: 'SESSION_EXISTS', status: 409 });
        await client.session('copy').delete();
      }
      expect(await client.session('main').delete(), name).to.deep.equal({ ok: true });
      expect(await failure(client.session('main').delete()), name).to.include({ code: 'SESSION_NOT_FOUND' });
      await until(() => watch.getSnapshot().status === 'closed');
      expect((await clients.sse.session('main').state()).messages).to.deep.equal([]);
      stop();
    }
    for (const client of Object.values(clients)) client.disconnect();
  });

  it('are no whole ones where the answer broke off, wherever it did', async () => {
    for (const sent of ['{"id":"a"}\n', '{"id":"a"}\n{"id":', '{"id":"a"}\n{"id":}\n']) {
      const url = await listenOnLoopback((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.write(sent, () => response.destroy());
      });
      const read: unknown[] = [];
      const error = await failure(
        (async () => {
          for await (const message of exportSession({ baseUrl: url }, 'main')) read.push(message);
        })(),
      );
      expect(error, sent).to.include({ code: 'NETWORK' });
      expect(read.length, sent).to.be.at.most(1);
    }
  });

  it('end with the signal, with the loop, and with what the gateway says', async () => {
    const { gateway, options } = await open();
    const messages = Array.from({ length: 3000 }, (_, n) => ({ content: `${n} ${'ä'.repeat(5000)}` }));
    await gateway.session('main', { user: { id: 'token' } }).import(messages);
    const stop = new AbortController();
    let read = 0;
    const error = await failure(
      (async () => {
        for await (const _ of exportSession(options, 'main', { signal: stop.signal })) {
          read += 1;
          stop.abort();
        }
      })(),
    );
    expect(error).to.include({ code: 'ABORTED' });
    expect(read).to.be.at.least(1);
    for await (const message of exportSession(options, 'main')) {
      expect(message.content[0]).to.deep.equal({ type: 'text', text: messages[0]!.content });
      break;
    }
    expect((await collect(exportSession(options, 'main'))).length).to.equal(3000);
    const missing = await failure(collect(exportSession(options, 'none')));
    expect(missing).to.include({ code: 'SESSION_NOT_FOUND', status: 404 });
  });
});
