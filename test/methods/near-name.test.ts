import { expect } from 'chai';
import { method } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { alone, post, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const methods = {
  math: { add: async () => 1, subtract: async () => 2 },
  users: { ban: method({ roles: ['admin'], handler: () => 3 }) },
  odd: async () => 4,
};

describe('a call of a method that is not there', () => {
  let url = '';
  const said = async (asked: unknown, token = 'ada'): Promise<string> =>
    (await post(`${url}/invoke`, asked, as(token))).body.error.message;

  beforeEach(async () => {
    url = (
      await startGateway({ app: echo, auth: byName, methods, shareLinks: { upTo: 'member' }, ...alone() })
    ).url;
  });

  it('names the one that was probably meant', async () => {
    for (const asked of ['mth:add', 'math.add', 'math:addd', 'Math:add', 'math:ad', 'math:dad'])
      expect(await said({ method: asked }), asked).to.equal(
        `There is no method ${JSON.stringify(asked)}; did you mean "math:add"?`,
      );
    expect(await said({ method: 'math:subtrat' })).to.contain('"math:subtract"');
  });

  it('names none where nothing is near', async () => {
    for (const asked of ['math', 'none', 'od:dly', '', 'math:divide', 'x'.repeat(5000)])
      expect(await said({ method: asked }), asked.slice(0, 20)).not.to.contain('did you mean');
  });

  it('names none that its caller is not shown', async () => {
    expect(await said({ method: 'users:bann' })).to.equal('There is no method "users:bann"');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('ada'));
    const link = { sessionId: 'main', with: { link: true }, as: 'member' };
    const { grant, token } = (await post(`${url}/share`, link, as('ada'))).body;
    const asked = { method: 'mth:add', sessionId: grant.sessionId };
    expect(await said(asked, token)).to.equal('There is no method "mth:add"');
  });
});
