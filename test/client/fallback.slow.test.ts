import { expect } from 'chai';
import { behindProxy } from '../support/behind-proxy.js';
import { failure } from '../support/client.js';

describe('a client whose network fails', () => {
  it('gives up an upgrade that is swallowed', async () => {
    // Before the call itself is given up, and that is before the socket is.
    const { proxy, client } = await behindProxy('auto', {}, { timeoutMs: 9000 });
    proxy.answer = (line) => (line.startsWith('GET /ws') ? null : undefined);
    expect((await failure(client.invoke('none'))).code).to.equal('METHOD_NOT_FOUND');
  });
});
