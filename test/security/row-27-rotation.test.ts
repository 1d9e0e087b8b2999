import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';

const FIRST = 'the-first-token-of-more-than-32-bytes!';
const SECOND = 'the-second-token-of-more-than-32-bytes';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('row 27: rotation of tokens', () => {
  it('takes effect without a restart: for requests at once, for what is open within the bound', async () => {
    let tokens: string | string[] = FIRST;
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'token', token: async () => tokens },
      limits: { revalidateMs: 60, heartbeatMs: 20 },
    });
    const statusOf = async (token: string) => (await get(`${url}/status`, bearer(token))).status;
    const old = await openWebSocket(url);
    await old.connect({ token: FIRST });
    const stream = await openStream(`${url}/events`, { headers: bearer(FIRST) });
    await stream.until(({ event }) => event === 'connected');

    tokens = [SECOND, FIRST];
    expect([await statusOf(FIRST), await statusOf(SECOND)]).to.deep.equal([200, 200]);
    const present = await openWebSocket(url);
    await present.connect({ token: SECOND });
    expect((await old.ask('1', 'status')).ok).to.equal(true);

    tokens = SECOND;
    expect([await statusOf(FIRST), await statusOf(SECOND)]).to.deep.equal([401, 200]);
    expect(await old.closed).to.equal(4401);
    await stream.ended;
    expect(stream.events.at(-1)!.event).to.equal('auth_expired');
    expect((await present.ask('1', 'status')).ok).to.equal(true);
  });

  for (const [name, given] of [
    ['nothing', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['null', null],
  ] as const) {
    it(`a function that returns ${name} lets nobody in`, async () => {
      const { url } = await startGateway({ app: echo, auth: { type: 'token', token: () => given as never } });
      for (const token of ['undefined', 'null', '', 'x'])
        expect((await get(`${url}/status`, bearer(token))).status, token).to.equal(401);
    });
  }

  it('a function that throws is an outage and not a wrong token', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'token', token: () => expect.fail('vault') },
    });
    const { status, body } = await get(`${url}/status`, bearer(FIRST));
    expect([status, body.error.code]).to.deep.equal([503, 'AUTH_UNAVAILABLE']);
  });
});
