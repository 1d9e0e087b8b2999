import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

describe('row 11: sessions of others', () => {
  it('sessionAccess that never answers refuses after the time a guard has', async () => {
    const { url, log } = await startGateway({
      app: echo,
      auth: byName,
      sessionAccess: () => new Promise(() => {}),
    });
    const { status, body } = await get(`${url}/history?sessionId=main`, as('alice'));
    expect([status, body.error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect(JSON.stringify(log.lines.map(({ message }) => message))).to.include('sessionAccess failed');
  });
});
