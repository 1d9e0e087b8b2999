import { expect } from 'chai';
import { isGatewayError } from '../../server/index.js';
import { loadPeer } from '../../server/runtime/optional-peer.js';
import { failure } from '../support/client.js';

describe('an optional peer', () => {
  it('that is missing is named, with what to install', async () => {
    const missing = 'a-package-nobody-has';
    const error = await failure(loadPeer(missing, 'someApp', () => import(missing)));
    expect(isGatewayError(error)).to.equal(true);
    expect(error.message).to.equal(`someApp needs the package ${missing}: npm install ${missing}`);
    expect(error.cause).to.have.property('code', 'ERR_MODULE_NOT_FOUND');
  });

  it('that is there is loaded', async () => {
    expect(await loadPeer('x', 'someApp', async () => ({ x: 1 }))).to.deep.equal({ x: 1 });
  });
});
