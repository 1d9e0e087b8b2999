import { expect } from 'chai';
import { scripted, testGateways } from '../../../testing/index.js';

const start = testGateways(afterEach);
const HOUR = 3_600_000;

describe('a message that is sent again when its gateway has forgotten its key', () => {
  it('is refused where it was accepted then: nothing is said twice', async () => {
    const gateway = await start({
      app: scripted(['heard']),
      clock: true,
      limits: { retention: { ageMs: HOUR } },
    });
    const client = gateway.client();
    const send = () => client.send('main', { id: 'm1', content: 'hello' }, { idempotencyKey: 'k1' });
    const { runId } = await send().accepted;
    await client.session('main').run(runId).result;
    await gateway.clock.advance(23 * HOUR);
    expect((await send().accepted).runId, 'within a day it is the same run').to.equal(runId);
    await gateway.clock.advance(3 * HOUR);
    const error = await send().accepted.catch((cause: { code: string }) => cause);
    expect(error).to.have.property('code');
    expect(
      (await client.session('main').history()).messages.filter(({ role }) => role === 'user'),
    ).to.have.length(1);
  });
});
