import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';

/** A gateway at which a user has six units of reads, and so few more a second that they do not count here. */
const start = () => startGateway({ app: echo, limits: { shared: { readsPerSecond: 3 }, readsPerSecond: 3 } });

describe('a read that costs more', () => {
  it('takes as much more of the rate', async () => {
    const { url } = await start();
    expect((await get(`${url}/inbox`)).status).to.equal(200);
    const { status, body } = await get(`${url}/inbox`);
    expect([status, body.error.code]).to.deep.equal([429, 'RATE_LIMITED']);
    expect(body.error.retryAfterMs).to.be.above(1000);
    expect((await get(`${url}/status`)).status).to.equal(200);
  });

  it('takes by the length of its page, whatever it is asked for', async () => {
    const { url } = await start();
    expect((await get(`${url}/sessions?limit=1000`)).status).to.equal(200);
    expect((await get(`${url}/sessions`)).status).to.equal(429);
  });

  for (const limit of ['-1000000', 'NaN', '1e308', '{}'])
    it(`is never paid for: a limit of ${limit}`, async () => {
      const { url } = await start();
      const statuses: number[] = [];
      for (let n = 0; n < 8; n += 1)
        statuses.push((await get(`${url}/sessions?${new URLSearchParams({ limit })}`)).status);
      expect(statuses[0]).to.equal(400);
      expect(statuses.at(-1)).to.equal(429);
    });
});
