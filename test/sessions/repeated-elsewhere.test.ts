import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a message sent again to another gateway while it is answered (${name})`, () => {
    it('leaves its run where it is, and gets its result', async () => {
      const word = gate<string>();
      const slow = defineApp({
        async *run() {
          yield await word.passed;
        },
      });
      const store = make();
      const limits = { drainMs: 0 };
      const [here, there] = [
        await startGateway({ app: slow, store, limits }),
        await startGateway({ app: slow, store, limits }),
      ];
      const body = { sessionId: 'main', message: 'x', idempotencyKey: 'k' };
      const accepted = await post(`${here.url}/send`, body, { prefer: 'respond-async' });
      const again = post(`${there.url}/send`, body);
      const joined = await post(`${there.url}/send`, body, { prefer: 'respond-async' });
      expect(joined.body.runId).to.equal(accepted.body.runId);
      word.open('said here');
      const { stopReason, runId } = (await again).body;
      expect({ stopReason, runId }).to.deep.equal({ stopReason: 'end', runId: accepted.body.runId });
    });
  });
}
