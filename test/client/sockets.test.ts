import { createServer } from 'node:http';
import { expect } from 'chai';
import { type Client, createClient, type WebSocketClass, webSocketTransport } from '../../client/index.js';
import { createGateway } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { echo } from '../support/apps.js';
import { WebSocket } from '../support/behind-proxy.js';
import { failure } from '../support/client.js';
import { startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { holdTimers } from '../support/held-timers.js';
import { listenWith } from '../support/host-server.js';
import { runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { expiringTokens } from './expiring-tokens.js';

const later = (client: Client): Client => closeLater(client, (it) => it.disconnect());

describe('a client that chooses its transport', () => {
  it('takes a WebSocket by name, and by itself where there is one', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const connected = new Hearing(gateway, 'client:connected');
    for (const transport of ['websocket', 'auto'] as const) {
      const client = later(createClient({ baseUrl: `${url}/`, token: TOKEN, transport, WebSocket }));
      expect(textOf((await client.send('main', transport).result).message)).to.equal(`echo: ${transport}`);
    }
    expect(connected.heard.map(({ transport }) => transport)).to.deep.equal(['websocket', 'websocket']);
  });

  it('falls back to SSE where no upgrade gets through', async () => {
    const gateway = createGateway({
      app: echo,
      embedded: true,
      auth: { type: 'none' },
      logger: new TestLogger(),
    });
    closeLater(gateway, (it) => it.close());
    const connected = new Hearing(gateway, 'client:connected');
    // A host that knows nothing of upgrades.
    const server = createServer((request, response) => gateway.handleRequest(request, response));
    const baseUrl = await listenWith(server);
    for (const given of [WebSocket, undefined]) {
      const client = later(createClient({ baseUrl, transport: 'auto', WebSocket: given }));
      const [first, second] = ['one', 'two'].map((text) => client.send('main', text));
      expect(textOf((await second!.result).message)).to.equal('echo: two');
      expect((await first!.result).stopReason).to.equal('end');
      expect((await client.status()).draining).to.equal(false);
    }
    expect(connected.heard.map(({ transport }) => transport)).to.deep.equal(['sse', 'sse']);
  });

  it('takes a refusal for one', async () => {
    const { url } = await startGateway({ app: echo });
    for (const transport of ['websocket', 'auto'] as const) {
      const client = later(createClient({ baseUrl: url, token: 'wrong', transport, WebSocket }));
      expect(await failure(client.status())).to.include({ code: 'UNAUTHENTICATED', status: 401 });
    }
  });

  it('lets a socket go that nobody has used for some seconds', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const disconnected = new Hearing(gateway, 'client:disconnected');
    const { clock } = holdTimers();
    const client = later(createClient({ baseUrl: url, token: TOKEN, transport: 'websocket', WebSocket }));
    await client.apps();
    await clock.tickAsync(5000);
    await disconnected.nth(1);
    expect(await client.apps()).to.have.property('apps');
  });

  it('says what a WebSocket needs', async () => {
    class NoWebSocket {
      close() {}
    }
    const client = later(createClient({ transport: webSocketTransport({ WebSocket }) }));
    expect(await failure(client.status())).to.include({ code: 'INVALID_REQUEST' });
    const broken = webSocketTransport({
      url: 'not a url',
      WebSocket: NoWebSocket as unknown as WebSocketClass,
    });
    expect(
      (await failure(later(createClient({ transport: broken, timeoutMs: 50 })).apps())).code,
    ).to.be.oneOf(['NETWORK', 'TIMEOUT']);
  });
});

describe('tokens of a WebSocket', () => {
  it('are asked for anew when one was refused, or ran out', async () => {
    const { auth } = expiringTokens(0);
    const { gateway, url } = await startGateway({ app: echo, auth, limits: { heartbeatMs: 50 } });
    const connected = new Hearing(gateway, 'client:connected');
    const asked: boolean[] = [];
    let runsOut = 0;
    const client = later(
      createClient({
        baseUrl: url,
        transport: 'websocket',
        WebSocket,
        token: ({ refresh }) => {
          asked.push(refresh);
          // The first is refused; the second runs out at once and cannot be renewed in time.
          if (asked.length === 1) return '1';
          if (asked.length === 2) runsOut = Date.now() + 600;
          else if (Date.now() < runsOut) throw new Error('the issuer is away');
          return String(asked.length === 2 ? runsOut : Date.now() + 60_000);
        },
      }),
    );
    const events = client.events('main', { from: 'earliest' });
    await connected.nth(2);
    await client.send('main', 'hello').result;
    expect((await events.next()).value.type).to.equal('message_accepted');
    expect(asked.slice(0, 2)).to.deep.equal([false, true]);
    // One that failed, and one that came after the end.
    expect(asked.slice(2).filter((refresh) => refresh).length).to.be.within(2, 4);
  });
});

describe('a program with a client on a Unix socket', () => {
  it('ends by itself when it waits for nothing more', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    await startGateway({ app: echo, socketPath });
    const program = runProgram('test/support/unix-client.ts', { args: [socketPath, TOKEN] });
    expect(await program.exited).to.equal(0);
    expect(program.output).to.include('"draining":false');
  });
});
