import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type ListeningServer, listen } from '../../../server/transports/http/listen.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

async function started() {
  let count = 0;
  const server = await listen(
    {
      ...{ host: '127.0.0.1', port: 0, handshakeMs: 10_000, keepAliveMs: 1000 },
      ...{ backlog: 511, mostConnections: Number.POSITIVE_INFINITY },
    },
    {
      ...{ admit: () => true, dropped() {}, upgrade() {} },
      request(_request, response) {
        count += 1;
        response.end('served');
      },
    },
  );
  return { server: closeLater(server, (it) => it.stop(0)), requests: () => count };
}

async function connected({ port }: ListeningServer): Promise<Socket> {
  const socket = closeLater(connect(port, '127.0.0.1'), (it) => it.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Whether a new connection is refused. */
async function refuses({ port }: ListeningServer): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const error = await once(socket, 'connect').then(
    () => null,
    ({ code }) => code,
  );
  socket.destroy();
  return error === 'ECONNREFUSED';
}

describe('a server that takes no more connections', () => {
  for (const how of ['takeNoMore', 'stop'] as const)
    it(`answers those that the system has already made (${how})`, async () => {
      const { server } = await started();
      const socket = connect(server.port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      // The connection is made in this turn of the event loop, and is accepted in the next one.
      await new Promise<void>(process.nextTick);
      if (how === 'stop') void server.stop(10_000);
      else void server.takeNoMore();
      expect(await text(socket)).to.contain('served');
      expect(await refuses(server)).to.equal(true);
    });

  it('waits a moment for the request of one that was just made, and for no others', async () => {
    const { server, requests } = await started();
    const spare = await connected(server);
    spare.destroy();
    const socket = await connected(server);
    const left = server.takeNoMore();
    let isOver = false;
    void left.then(() => {
      isOver = true;
    });
    await until(() => refuses(server));
    expect([isOver, requests()]).to.deep.equal([false, 0]);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await left;
    expect(requests()).to.equal(1);
  });
});
