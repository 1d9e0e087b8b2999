import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { begin } from '../grants/cast.js';
import { get } from '../support/gateway.js';
import { as } from '../support/users.js';

describe('the usage of people who share a session', () => {
  it('is told to nobody else; a guest sees that of its link, by whatever name', async () => {
    const app = defineApp({
      async run(turn) {
        await turn.usage({ inputTokens: 1 });
        return 'ok';
      },
    });
    const { url, send, shared, gateway } = await begin({
      app,
      shareLinks: { upTo: 'member' },
      budgets: [
        { name: 'link', per: 'grant', period: 'ever', limit: { runs: 3 }, reached: 'stop' },
        { name: 'ann', per: 'person', period: 'ever', limit: { runs: 100 }, reached: 'stop' },
      ],
    } as never);
    await send('hi');
    const { sessionId, token } = await shared({ with: { link: true }, as: 'member' });
    const [one, two] = [as(`${token}.one`), as(`${token}.two`)];
    await send('hello', one, sessionId);
    await send('hello', two, sessionId);
    const seen = async (who: Record<string, string>) => {
      const { status, body } = await get(`${url}/usage?by=person,grant`, who);
      expect(status).to.equal(200);
      return body.usage.map(({ person, grant, calls }: any) => [person, grant !== null, calls]);
    };
    const linked = [[null, true, 2]];
    expect(await seen(one)).to.deep.equal(linked);
    expect(await seen(two)).to.deep.equal(linked);
    expect(await seen(as('ann'))).to.deep.equal([['ann', false, 1]]);
    expect(await seen(as('eve'))).to.deep.equal([]);
    expect(
      (await gateway.usage({ by: ['person'] })).map(({ person, calls }) => [person, calls]),
    ).to.deep.equal([
      ['ann', 1],
      [null, 2],
    ]);
    const ofAnn = await gateway.usage({ user: { id: 'ann' }, by: ['person'] });
    expect(ofAnn.map(({ person, calls }) => [person, calls])).to.deep.equal([['ann', 1]]);
    expect(await gateway.usage({ tenant: 'other' })).to.deep.equal([]);
    await send('hello', one, sessionId);
    const refused = await send('hello', two, sessionId);
    expect([refused.status, refused.body.error?.code ?? refused.body.code]).to.deep.equal([
      402,
      'BUDGET_EXHAUSTED',
    ]);
    await send('hi again');
    expect((await seen(as('ann')))[0]![2]).to.equal(2);
  });
});
