import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';

describe('a session while its close is on its way to the store', () => {
  for (const isRefused of [true, false])
    it(`is read as before, and is ${isRefused ? 'there again where that is refused' : 'gone once that is made'}`, async () => {
      const inner = memoryStore();
      const [asked, goOn] = [gate(), gate()];
      const store = overriding(inner, {
        async append(...args) {
          if (!args[2].close) return inner.append(...args);
          asked.open();
          await goOn.passed;
          if (isRefused) throw new StoreError('UNAVAILABLE', 'The disk is full');
          return inner.append(...args);
        },
      });
      const { url } = await startGateway({ app: echo, store });
      await post(`${url}/send`, { sessionId: 'main', message: 'one' });
      const closing = post(`${url}/close`, { sessionId: 'main' });
      await asked.passed;
      const history = await get(`${url}/history?sessionId=main`);
      expect(history.body.messages).to.have.length(2);
      expect((await get(`${url}/status?sessionId=main`)).body.status).to.equal('idle');
      const refused = await post(`${url}/send`, { sessionId: 'main', message: 'two' });
      expect(refused.body.error.code).to.equal('SESSION_CLOSED');
      goOn.open();
      expect((await closing).status).to.equal(isRefused ? 503 : 200);
      const after = await get(`${url}/history?sessionId=main`);
      expect(after.status).to.equal(isRefused ? 200 : 404);
      expect((await post(`${url}/send`, { sessionId: 'main', message: 'three' })).status).to.equal(200);
    });
});
