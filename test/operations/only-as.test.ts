import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { eventsOf, testGateways } from '../../testing/index.js';

const start = testGateways(afterEach);
const echo = defineApp({
  async *run() {
    yield 'heard';
  },
});

describe('a send by one user alone', () => {
  for (const [who, onlyAs, isTaken] of [
    ['its user', { id: 'ada' }, true],
    ['its user, whose tenant is named', { id: 'ada', tenantId: 'one' }, true],
    ['another user', { id: 'ben' }, false],
    ['a user of the same id in another tenant', { id: 'ada', tenantId: 'two' }, false],
  ] as const)
    it(`is ${isTaken ? 'taken' : 'refused'} from ${who}, and without a trace if refused`, async () => {
      const kit = await start({ app: echo });
      const client = kit.client({ user: { id: 'ada', tenantId: 'one' } });
      const asked = { onlyAs } as object;
      const sent = client.send('main', 'hello', asked).accepted.then(
        () => 'taken',
        ({ code }) => code,
      );
      expect(await sent).to.equal(isTaken ? 'taken' : 'OTHER_USER');
      const log = await eventsOf(client, 'main').catch(() => []);
      expect(log.filter(({ type }) => type === 'message_accepted')).to.have.length(isTaken ? 1 : 0);
    });

  it('names the user of a connection and of the status as onlyAs does', async () => {
    const kit = await start({ app: echo });
    const client = kit.client({ user: { id: 'ada', tenantId: 'one' } });
    expect((await client.status()).user).to.deep.equal({ id: 'ada', tenantId: 'one' });
  });
});
