import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { SocketFile } from '../../server/sockets/socket-file.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

describe('the file of a socket', () => {
  it('is made in the present directory too, whatever its first name is', async () => {
    const before = process.cwd();
    process.chdir(socketDirectory());
    closeLater(before, (it) => process.chdir(it));
    // The first name is random. One in twenty has digits alone, which Node takes for a port without a directory.
    for (let times = 0; times < 200; times++) {
      const server = createServer();
      const file = new SocketFile('gateway.sock');
      await file.bind(server);
      expect(server.listening).to.equal(true);
      file.remove();
      server.close();
      await once(server, 'close');
    }
  });
});
