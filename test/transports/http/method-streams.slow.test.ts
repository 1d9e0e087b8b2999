import { expect } from 'chai';
import { echo } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { post, startGateway } from '../../support/gateway.js';

describe('a call of a method', () => {
  it('is answered although the gateway shuts down meanwhile, within drainMs', async () => {
    const began = gate();
    const paid = gate();
    const pay = async () => {
      began.open();
      await paid.passed;
      return 'paid';
    };
    const { url, gateway } = await startGateway({ app: echo, methods: { pay }, limits: { drainMs: 60_000 } });
    const call = post(`${url}/invoke`, { method: 'pay' });
    await began.passed;
    let closed = false;
    const closing = gateway.close().then(() => {
      closed = true;
    });
    // Longer than what finishing responses are given once nothing is under way.
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(closed).to.equal(false);
    expect((await post(`${url}/invoke`, { method: 'pay' })).body.error.code).to.equal('SHUTTING_DOWN');
    paid.open();
    expect((await call).body).to.equal('paid');
    await closing;
  });
});
