import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type NodeWebSocket from 'ws';
import { WebSocketServer } from 'ws';
import {
  type Client,
  type ClientOptions,
  createClient,
  type GatewayError,
  webSocketTransport,
} from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { behindProxy, WebSocket } from '../support/behind-proxy.js';
import { connectClient, failure } from '../support/client.js';
import { listenOnLoopback, portOf } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { until } from '../support/until.js';

/** Why a client that listens has to connect again. */
async function trouble(client: Client): Promise<string> {
  client.events('main');
  const { message } = await nextError(client);
  return message;
}

/** The next error of a client's connection; a look now and then may miss it, where the client is connected again at once. */
function nextError({ connection }: Client): Promise<GatewayError> {
  return new Promise((resolve) => {
    connection.subscribe(() => {
      if (connection.error) resolve(connection.error);
    });
  });
}

/** A question or an advice at the end: what to look at. */
const REMEDY = /\w\S*\. \w.+[.?]$/;

/** An address where nobody listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

/** A WebSocket server that is no gateway, and its address. */
async function otherSockets(greet: (socket: NodeWebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  closeLater(server, (it) => {
    for (const socket of it.clients) socket.terminate();
    it.close();
  });
  server.on('connection', greet);
  await new Promise((resolve) => server.once('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/chat`;
}

describe('what a client says of its network', () => {
  const nowhere = join(tmpdir(), `${randomUUID()}.sock`);
  const doors: Readonly<Record<string, (host: string) => readonly [string, RegExp, ClientOptions]>> = {
    sse: (host) => [`http://${host}/`, /fetch failed: .*ECONNREFUSED/, { baseUrl: `http://${host}` }],
    websocket: (host) => [
      `ws://${host}/ws`,
      /ECONNREFUSED/,
      { baseUrl: `http://${host}`, transport: 'websocket', WebSocket },
    ],
    auto: (host) => [
      `http://${host}/`,
      /ECONNREFUSED/,
      { baseUrl: `http://${host}`, transport: 'auto', WebSocket },
    ],
    'a Unix socket': () => [
      nowhere,
      /ENOENT/,
      { transport: createUnixSocketClientTransport({ socketPath: nowhere }) },
    ],
  };
  for (const [name, door] of Object.entries(doors)) {
    it(`names the address, the cause and what to look at where nobody is (${name})`, async () => {
      const [address, cause, options] = door(await closedPort());
      const client = closeLater(createClient(options), (it) => it.disconnect());
      const errors = [await failure(client.invoke('x')), await failure(client.stream('x').next())];
      for (const error of errors) {
        expect(error).to.include({ code: 'NETWORK', status: 0 });
        expect(error.cause, 'its cause').to.be.instanceOf(Error);
      }
      for (const message of [...errors.map((error) => error.message as string), await trouble(client)])
        expect(message).to.include(address).and.match(cause).and.match(REMEDY);
    });
  }

  for (const transport of ['sse', 'websocket'] as const) {
    const home = transport === 'sse' ? 'http' : 'ws';

    it(`does so of a connection that breaks (${transport})`, async () => {
      let called = 0;
      const forever = () => {
        called += 1;
        return new Promise(() => {});
      };
      const { client, proxy } = await behindProxy(transport, {
        methods: {
          forever,
          async *endless() {
            yield 1;
            await forever();
          },
        },
      });
      const endless = client.stream('endless');
      await endless.next();
      const broken = [failure(client.invoke('forever')), failure(endless.next())];
      await until(() => called === 2);
      proxy.cut();
      for (const { code, message } of await Promise.all(broken)) {
        expect(code).to.equal('NETWORK');
        expect(message).to.include(proxy.url.replace('http', home)).and.match(REMEDY);
      }
    });

    it(`does so of a line that is silent (${transport})`, async () => {
      const { client, proxy } = await behindProxy(
        transport,
        { methods: { slow: () => new Promise(() => {}) } },
        { timeoutMs: 100 },
      );
      const address = proxy.url.replace('http', home);
      const late = await failure(client.invoke('slow'));
      expect(late).to.include({ code: 'TIMEOUT' });
      expect(late.message).to.include(address).and.include('invoke').and.include('100 ms').and.match(REMEDY);
      const patient = connectClient(proxy.url, { transport, WebSocket });
      patient.events('main');
      await until(() => patient.connection.state === 'open');
      const silent = nextError(patient);
      proxy.hush();
      const { code, message } = await silent;
      expect(code).to.equal('NETWORK');
      expect(message).to.include(address).and.include('silent').and.match(REMEDY);
    });
  }

  it('does so of an error that is its own cause', async () => {
    const circle = new TypeError('Load failed');
    circle.cause = circle;
    const client = connectClient('http://gateway.test/agent', { fetch: async () => Promise.reject(circle) });
    const { code, message } = await failure(client.invoke('x'));
    expect(code).to.equal('NETWORK');
    expect(message)
      .to.match(REMEDY)
      .and.match(/^http:\/\/gateway\.test\/agent\/invoke .*: Load failed\. /);
  });

  it('does so of somebody else who answers', async () => {
    const url = await listenOnLoopback((_, response) => response.end('<html>'));
    const client = connectClient(url);
    const messages = [
      (await failure(client.invoke('x'))).message,
      (await failure(client.stream('x').next())).message,
      await trouble(client),
    ];
    const address = await otherSockets((socket) => socket.send('<html>'));
    const other = closeLater(
      createClient({ transport: webSocketTransport({ url: address, WebSocket }) }),
      (it) => it.disconnect(),
    );
    for (const message of messages) expect(message).to.include(url).and.match(REMEDY);
    for (const message of [(await failure(other.invoke('x'))).message, await trouble(other)])
      expect(message).to.include(address).and.match(REMEDY);
  });

  it('does so of a WebSocket that is refused, and of one that the other side closes', async () => {
    const url = await listenOnLoopback((_, response) => response.writeHead(404).end());
    const refused = connectClient(url, { transport: 'websocket', WebSocket });
    expect((await failure(refused.invoke('x'))).message)
      .to.include(`${url.replace('http', 'ws')}/ws`)
      .and.include('404')
      .and.match(REMEDY);
    const address = await otherSockets((socket) => socket.close(1013, 'come back later'));
    const client = createClient({ transport: webSocketTransport({ url: address, WebSocket }) });
    closeLater(client, (it) => it.disconnect());
    expect((await failure(client.invoke('x'))).message)
      .to.include(address)
      .and.include('1013')
      .and.include('come back later')
      .and.match(REMEDY);
  });

  it('does so of a socket whose lines are none', async () => {
    const socketPath = `${socketDirectory()}/other.sock`;
    const server = createSocketServer((socket) => {
      socket.on('error', () => {}).write('<html>\n');
      closeLater(socket, (it) => it.destroy());
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    closeLater(server, (it) => it.close());
    const client = createClient({ transport: createUnixSocketClientTransport({ socketPath }) });
    closeLater(client, (it) => it.disconnect());
    expect((await failure(client.invoke('x'))).message)
      .to.include(socketPath)
      .and.match(REMEDY);
  });

  it('names the address of a dead port as it is, and origins only in a page', async () => {
    const told = async () => {
      const client = createClient({ baseUrl: 'http://127.0.0.1:1', transport: 'sse' });
      closeLater(client, (it) => it.disconnect());
      return (await failure(client.status())).message;
    };
    expect(await told()).to.match(
      /^http:\/\/127\.0\.0\.1:1\/status cannot be reached: .* Is a gateway running there\?$/,
    );
    const page = globalThis as { location?: object };
    page.location = { href: 'https://page.test/' };
    closeLater(page, (it) => void delete it.location);
    expect(await told()).to.match(/ Is a gateway running there that allows this origin\?$/);
  });

  it('blames no address for what the page gave', async () => {
    const token = () => {
      throw new Error('a bug in the page');
    };
    for (const transport of ['sse', 'websocket'] as const) {
      const client = connectClient('http://127.0.0.1:1', { transport, WebSocket, token });
      const { message } = await failure(client.invoke('x'));
      expect(message).to.include('a bug in the page').and.match(/token/);
      expect(message).not.to.include('cannot be reached');
    }
  });
});
