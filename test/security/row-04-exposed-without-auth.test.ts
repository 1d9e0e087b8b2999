import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';

describe('row 4: a gateway without auth that others can reach', () => {
  for (const host of [
    '0.0.0.0',
    '::',
    '192.0.2.1',
    'gateway.example',
    '127.0.0.1.nip.io',
    'localhost.example',
  ]) {
    it(`is refused on ${host}, by the name of the option`, async () => {
      const error = await failure((async () => createGateway({ app: echo, host, port: 0 }))());
      expect(error).to.include({ code: 'INVALID_REQUEST' });
      expect(error.message).to.include('auth').and.include("{ type: 'none' }");
    });
  }

  it('serves on loopback, and elsewhere once it is written out', async () => {
    for (const config of [{}, { host: '0.0.0.0', auth: { type: 'none' as const } }]) {
      const { url } = await startGateway({ app: echo, auth: undefined, ...config });
      expect((await fetch(`${url.replace('0.0.0.0', '127.0.0.1')}/status`)).status).to.equal(200);
    }
  });
});
