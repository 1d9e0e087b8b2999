import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { listen } from '../../../server/transports/http/listen.js';
import { closeLater } from '../../support/resources.js';

describe('a server that takes no more connections', () => {
  for (const how of ['takeNoMore', 'stop'] as const)
    it(`answers those that the system has already made (${how})`, async () => {
      const server = await listen(
        {
          ...{ host: '127.0.0.1', port: 0, handshakeMs: 10_000, keepAliveMs: 1000 },
          ...{ backlog: 511, mostConnections: Number.POSITIVE_INFINITY },
        },
        {
          ...{ admit: () => true, dropped() {}, upgrade() {} },
          request: (_request, response) => void response.end('served'),
        },
      );
      closeLater(server, (it) => it.stop(0));
      const socket = connect(server.port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      // The connection is made in this turn of the event loop, and is accepted in the next one.
      await new Promise<void>(process.nextTick);
      if (how === 'stop') void server.stop(10_000);
      else server.takeNoMore();
      expect(await text(socket)).to.contain('served');
      const late = connect(server.port, '127.0.0.1');
      const error = await new Promise<NodeJS.ErrnoException>((resolve) => late.once('error', resolve));
      expect(error.code).to.equal('ECONNREFUSED');
    });
});
