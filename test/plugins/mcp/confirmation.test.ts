import { expect } from 'chai';
import { type Client, createClient } from '../../../client/index.js';
import type { EventOf } from '../../../server/index.js';
import { Hearing } from '../../support/hearing.js';
import { closeLater } from '../../support/resources.js';
import { CLIENTS, startMcp } from './mcp-clients.js';
import { payments } from './offered-tools.js';

const { app } = payments();

for (const { name, connect } of CLIENTS) {
  describe(`a tool that needs confirmation, called by ${name}`, () => {
    /** Calls it while a person follows the session and answers. */
    const asking = async (answer: (person: Client, callId: string) => Promise<unknown>) => {
      const { gateway, url, base } = await startMcp({ app });
      const person = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
      const connected = new Hearing(gateway, 'client:connected');
      const events = person.events('main', { types: ['tool_confirmation_required'] })[Symbol.asyncIterator]();
      const asked = events.next();
      await connected.nth();
      const call = (await connect(url)).call('pay', { sum: 5 });
      const question = (await asked).value as EventOf<'tool_confirmation_required'>;
      expect(question).to.deep.include({ name: 'pay', input: { sum: 5 }, message: 'Really pay?' });
      await answer(person, question.callId);
      return call;
    };

    it('runs when the person who follows the session approves', async () => {
      const result = await asking((person, callId) => person.session('main').approve(callId));
      expect(result.content[0].text).to.equal('paid 5');
      expect(result.isError).not.to.equal(true);
    });

    it('fails when they deny', async () => {
      const result = await asking((person, callId) => person.session('main').deny(callId, 'too much'));
      expect(result).to.deep.include({
        isError: true,
        content: [{ type: 'text', text: 'Denied: too much' }],
      });
    });

    it('fails at once, and says why, where nobody follows the session', async () => {
      const { url } = await startMcp({ app });
      const result = await (await connect(url)).call('pay', { sum: 5 });
      expect(result.isError).to.equal(true);
      expect(result.content[0].text).to.match(/nobody follows the session main/);
    });
  });
}
