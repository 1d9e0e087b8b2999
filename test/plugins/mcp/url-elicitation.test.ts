import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { type Asks, CLIENTS, type FormAnswer, startMcp } from './mcp-clients.js';
import { payments } from './offered-tools.js';

for (const { name, sessions, connect } of CLIENTS)
  describe(`a confirmation at an address that ${name} opens`, () => {
    const started = async (answer: FormAnswer, kinds: Asks = { url: {} }) => {
      const { app, paid } = payments();
      const asked: unknown[] = [];
      const { url, base } = await startMcp(
        { app },
        {
          confirmUrl: (question, { user }) => {
            asked.push([question.name, question.input, user.id]);
            return `https://page.example/confirm/${question.callId}`;
          },
        },
      );
      const mcp = await connect(url, as('alice'), answer, kinds);
      const page = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
      return { mcp, page: page.session('main'), paid, asked };
    };

    for (const approved of [true, false])
      it(`is ${approved ? 'given' : 'refused'} there by whoever is signed in, and opened once`, async () => {
        const links: any[] = [];
        let answered: Promise<unknown> | undefined;
        const { mcp, page, paid, asked } = await started(async (link) => {
          links.push(link);
          const callId = link.url!.split('/').at(-1)!;
          // The person comes to the page after the client has said that it is open.
          answered = new Promise((resolve) => setImmediate(resolve)).then(() =>
            page.respond(callId, { approved, reason: 'so be it' }),
          );
          return { action: 'accept' };
        });
        const result = await mcp.call('pay', { sum: 5 });
        await answered;
        expect(result.content).to.deep.equal([
          { type: 'text', text: approved ? 'paid 5' : 'Denied: so be it' },
        ]);
        expect(paid).to.deep.equal(approved ? [5] : []);
        expect(links).to.have.length(1);
        expect(links[0]).to.include({ mode: 'url', message: 'Really pay?' });
        expect(asked).to.deep.equal([['pay', { sum: 5 }, 'alice']]);
        expect(mcp.completed).to.deep.equal(sessions ? [links[0].elicitationId] : []);
      });

    it('is denied by who does not open it', async () => {
      const { mcp, paid } = await started(async () => ({ action: 'decline' }));
      expect(await mcp.call('pay', { sum: 5 })).to.deep.include({
        content: [{ type: 'text', text: 'Denied: declined' }],
        isError: true,
      });
      expect(paid).to.deep.equal([]);
    });

    it('goes before a form where the client knows both, and is a form where it knows that alone', async () => {
      const modes: unknown[] = [];
      const says: FormAnswer = async (asked: any) => {
        modes.push(asked.mode);
        return { action: 'decline' };
      };
      for (const kinds of [{ form: {}, url: {} }, { form: {} }]) {
        const { mcp } = await started(says, kinds);
        await mcp.call('pay', { sum: 5 });
      }
      expect(modes).to.deep.equal(['url', 'form']);
    });
  });
