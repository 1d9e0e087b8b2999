import { expect } from 'chai';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

async function start() {
  const { gateway, url } = await startGateway({
    apps: { echo, 'internal-only-app': echo },
    defaultApp: 'echo',
    auth: byName,
    appAccess: (_user, app) => app === 'echo',
  });
  gateway.use(chatCompletionsPlugin());
  const complete = (name: string, session: string, content: string, model = 'echo') =>
    post(
      `${url}/v1/chat/completions`,
      { model, messages: [{ role: 'user', content }] },
      { ...as(name), 'x-session-id': session },
    );
  return { url, complete };
}

describe('row 31: callers of chat completions', () => {
  it('with the same session id have sessions of their own', async () => {
    const { url, complete } = await start();
    await complete('alice', 'shared-name', 'the secret of alice');
    const { status, body } = await complete('bob', 'shared-name', 'hello');
    expect([status, body.choices[0].message.content]).to.deep.equal([200, 'echo: hello']);
    const mine = await get(`${url}/history?sessionId=shared-name`, as('alice'));
    const yours = await get(`${url}/history?sessionId=shared-name`, as('bob'));
    expect(JSON.stringify(mine.body)).to.include('the secret of alice').and.not.include('hello');
    expect(JSON.stringify(yours.body)).to.include('hello').and.not.include('alice');
  });

  for (const session of ['../x', 'a b', 'x'.repeat(129), '%00', 'a/b', '{}']) {
    it(`cannot name a session ${session.slice(0, 8)}`, async () => {
      const { url, complete } = await start();
      const { status } = await complete('bob', session, 'hi');
      expect(status).to.equal(400);
      expect((await get(`${url}/sessions`, as('bob'))).body.sessions).to.deep.equal([]);
    });
  }

  it('are told of a model that is not theirs nothing but that, and of others nothing', async () => {
    const { url, complete } = await start();
    for (const model of ['nothing', 'internal-only-app', '__proto__', 'constructor']) {
      const { status, body } = await complete('bob', 's', 'hi', model);
      expect([status, body.error.message]).to.deep.equal([404, `The model "${model}" does not exist`]);
    }
    expect(JSON.stringify((await get(`${url}/v1/models`, as('bob'))).body)).not.to.include('internal-only');
  });
});
