import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { createGateway, defineApp } from '../../../server/index.js';
import { playgroundPlugin, type ReplayRequest } from '../../../server/plugins/playground/index.js';
import { TOKEN } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';

describe('the replay of the playground', () => {
  const asked: ReplayRequest[] = [];

  async function serve(readOnly: boolean) {
    const app = defineApp({ run: ({ text }) => `${text} it is` });
    const gateway = createGateway({
      apps: { one: app },
      defaultApp: 'one',
      port: 0,
      auth: { type: 'token', token: TOKEN },
    }).use(
      playgroundPlugin({
        readOnly,
        replay: (replaying) => {
          asked.push(replaying);
          return { turns: 1 };
        },
      }),
    );
    closeLater(gateway, (it) => it.close());
    const url = (await gateway.start()).url!;
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    await client.send('main', 'Red').result;
    return (sessionId: string, token = TOKEN) =>
      fetch(`${url}/playground/_replay`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId, answersMayDiffer: true }),
      });
  }

  beforeEach(() => {
    asked.length = 0;
  });

  it('hands over the events of a session that its caller may export, and the name of its app', async () => {
    const replay = await serve(false);
    expect((await replay('other')).status).to.equal(404);
    expect((await replay('main', 'nobody')).status).to.equal(401);
    expect(asked).to.deep.equal([]);
    expect(await (await replay('main')).json()).to.deep.equal({ turns: 1 });
    const [{ record, ...about }] = asked as [ReplayRequest];
    expect(about).to.deep.equal({ app: 'one', answersMayDiffer: true });
    const events = record
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).to.include.members(['message_accepted', 'message_end']);
  });

  it('is not there where the page changes nothing', async () => {
    const replay = await serve(true);
    // The page's own path takes no POST.
    expect((await replay('main')).status).to.equal(405);
    expect(asked).to.deep.equal([]);
  });
});
