import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createGateway } from '../../server/gateway/create-gateway.js';
import { reloadGateway } from '../../server/gateway/reload.js';
import type { GatewayError } from '../../shared/errors.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const OLD = 'an-old-secret-of-more-than-32-bytes-in-all';
const NEW = 'a-new-secret-of-more-than-32-bytes-in-all!';

const app = {
  async *run() {
    yield 'yes';
  },
};

const bearing = (secret: string, id = 'ada') => ({
  headers: { authorization: `Bearer ${jwt.sign({ sub: id }, secret)}` },
});

async function started(config: object = {}) {
  const gateway = createGateway({ app, port: 0, auth: { type: 'jwt', secret: OLD }, ...config } as never);
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  return { gateway, url: url! };
}

describe('reloadGateway', () => {
  it('goes on with other keys: streams of withdrawn ones end, others stay open', async () => {
    const { gateway, url } = await started({ limits: { revalidateMs: 100 } });
    const open = async (secret: string) => {
      const response = await fetch(`${url}/events?sessionId=main`, bearing(secret));
      let isOver = false;
      void response.text().finally(() => {
        isOver = true;
      });
      return { status: response.status, isOver: () => isOver };
    };
    const before = await open(OLD);
    reloadGateway(gateway, { auth: { type: 'jwt', secret: [NEW, OLD] } });
    const rotated = await open(NEW);
    expect([before.status, rotated.status]).to.deep.equal([200, 200]);
    expect((await fetch(`${url}/sessions`, bearing(OLD))).status).to.equal(200);
    reloadGateway(gateway, { auth: { type: 'jwt', secret: NEW } });
    await until(before.isOver);
    expect(rotated.isOver()).to.equal(false);
    expect((await fetch(`${url}/sessions`, bearing(OLD))).status).to.equal(401);
    expect((await fetch(`${url}/sessions`, bearing(NEW))).status).to.equal(200);
  });

  it('goes on with other origins', async () => {
    const { gateway, url } = await started();
    const { headers } = bearing(OLD);
    const from = async (origin: string): Promise<number> =>
      (await fetch(`${url}/sessions`, { headers: { ...headers, origin } })).status;
    expect(await from('https://new.example')).to.equal(403);
    const acts: unknown[] = [];
    gateway.on('audit', ({ act, about }) => void acts.push([act, about]));
    reloadGateway(gateway, { origins: ['https://new.example/'] });
    expect(acts).to.deep.equal([['reload', { options: 'origins' }]]);
    expect(await from('https://new.example')).to.equal(200);
  });

  it('goes on with other limits, keeps those that take a restart, and names them', async () => {
    const { gateway, url } = await started({ limits: { storeMs: 9000 } });
    const send = (sessionId: string): Promise<Response> =>
      fetch(`${url}/send`, {
        method: 'POST',
        headers: { ...bearing(OLD).headers, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId, message: 'hello' }),
      });
    expect((await send('one')).status).to.equal(200);
    expect(reloadGateway(gateway, { limits: { sendsPerSecond: 0.01, jsonDepth: 5 } })).to.deep.equal([
      'limits.jsonDepth',
      'limits.storeMs',
    ]);
    const statuses = [await send('two'), await send('three')].map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 429]);
    expect(reloadGateway(gateway, { limits: { storeMs: 9000, sendsPerSecond: 1_000_000 } })).to.deep.equal(
      [],
    );
    expect((await send('four')).status).to.equal(200);
  });

  it('changes nothing if something is wrong, and names it', async () => {
    const { gateway, url } = await started();
    for (const [given, path] of [
      [{ limits: { queueLength: -1 } }, 'limits.queueLength'],
      [{ limits: { sendsPerSecond: 5 }, auth: { type: 'jwt', secret: '' } }, 'auth.secret'],
      [{ auth: { type: 'jwt', secret: OLD, algorithms: ['RS256'] } }, 'auth.secret'],
      [{ auth: { type: 'none' } }, 'auth.type'],
      [{ origins: ['nonsense'] }, 'origins.0'],
    ] as const) {
      let error: GatewayError | undefined;
      try {
        reloadGateway(gateway, given as never);
      } catch (thrown) {
        error = thrown as GatewayError;
      }
      expect(error?.code, path).to.equal('INVALID_REQUEST');
      expect(error!.message).to.contain(path);
    }
    expect((await fetch(`${url}/sessions`, bearing(OLD))).status).to.equal(200);
  });
});
