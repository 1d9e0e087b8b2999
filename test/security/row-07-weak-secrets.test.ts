import { expect } from 'chai';
import { type AuthConfig, createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { get, startGateway } from '../support/gateway.js';

const weak: readonly AuthConfig[] = [
  { type: 'token', token: 'x' },
  { type: 'token', token: ['x'.repeat(40), 'short'] },
  { type: 'jwt', secret: 'x'.repeat(31) },
];

describe('row 7: weak secrets', () => {
  for (const auth of weak) {
    it(`(${JSON.stringify(auth).slice(0, 40)}) are refused where others reach the gateway, and a warning on loopback`, async () => {
      const error = await failure((async () => createGateway({ app: echo, host: '0.0.0.0', auth }))());
      expect(error.code).to.equal('INVALID_REQUEST');
      expect(error.message).to.include('openssl rand');
      const { log } = await startGateway({ app: echo, auth });
      expect(log.lines.map(({ level, message }) => `${level} ${message}`).join()).to.match(
        /warn auth\.\w+: .*32 bytes/,
      );
    });
  }

  it('that a function returns are no tokens where others reach the gateway', async () => {
    const long = 'a-long-token-of-more-than-32-bytes-indeed';
    let tokens: string | string[] = 'x';
    const { url, log } = await startGateway({
      app: echo,
      host: '0.0.0.0',
      auth: { type: 'token', token: () => tokens },
    });
    const at = `${url.replace('0.0.0.0', '127.0.0.1')}/status`;
    const statusOf = async (token: string) => (await get(at, { authorization: `Bearer ${token}` })).status;
    expect(await statusOf('x')).to.equal(401);
    expect(
      JSON.stringify(log.lines.map(({ details }) => String((details as { err?: Error }).err))),
    ).to.include('openssl rand');
    tokens = ['x', long];
    expect(await statusOf('x')).to.equal(401);
    expect(await statusOf(long)).to.equal(200);
  });

  it('that a function returns work on loopback', async () => {
    const { url } = await startGateway({ app: echo, auth: { type: 'token', token: () => 'x' } });
    expect((await get(`${url}/status`, { authorization: 'Bearer x' })).status).to.equal(200);
  });
});
