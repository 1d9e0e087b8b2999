import { Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner } from '@openai/agents';
import { expect } from 'chai';
import OpenAI from 'openai';
import { defineApp } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { gate } from '../../support/gate.js';
import { post } from '../../support/gateway.js';
import { as } from '../../support/users.js';
import { startResponses } from './fixtures.js';

/** Tells what it knows. */
const recalling = () =>
  defineApp({ run: (turn) => [...turn.history, turn.message].map((said) => textOf(said)).join('|') });

const said = (role: 'user' | 'assistant', content: string) => ({ role, content }) as const;

describe('items of conversations', () => {
  it('are kept for the session of the Agents SDK, popped and cleared', async () => {
    const { baseURL } = await startResponses({ app: recalling() });
    const client = new OpenAI({ baseURL, apiKey: 'alice' });
    const session = new OpenAIConversationsSession({ client: client as never });
    const agent = new Agent({ name: 'A', model: new OpenAIResponsesModel(client as never, 'default') });
    const runner = new Runner({ tracingDisabled: true });
    const ask = async (text: string) => (await runner.run(agent, text, { session })).finalOutput;
    expect(await ask('one')).to.equal('one');
    expect(await ask('two')).to.equal('one|one|two');
    expect(await session.getItems()).to.have.length(4);
    expect(await session.popItem()).to.deep.include({ role: 'assistant' });
    expect(await session.popItem()).to.deep.include({ role: 'user' });
    expect(await session.getItems()).to.have.length(2);
    expect(await ask('three')).to.equal('one|one|three');
    await session.clearSession();
    expect(await session.getItems()).to.have.length(0);
  });

  it('are added once by the client’s own second try, and by its key', async () => {
    const { baseURL, gateway } = await startResponses({ app: recalling() });
    let lost = 0;
    const client = new OpenAI({
      ...{ baseURL, apiKey: 'alice', maxRetries: 2 },
      fetch: async (url: any, init: any) => {
        const response = await fetch(url, init);
        if (init.method !== 'POST' || !/items$/.test(String(url)) || lost++ > 0) return response;
        await response.arrayBuffer();
        throw new TypeError('the answer was lost');
      },
    });
    const { id } = await client.conversations.create({ items: [said('user', 'one')] });
    const added = await client.conversations.items.create(id, { items: [said('user', 'two')] });
    expect(lost).to.equal(2);
    const items = { items: [said('user', 'three')] };
    const keyed = { headers: { 'idempotency-key': 'k' } };
    const [first, second] = [
      await client.conversations.items.create(id, items, keyed),
      await client.conversations.items.create(id, items, keyed),
    ];
    expect(second).to.deep.equal(first);
    const again = await client.conversations.items
      .create(id, { items: [said('user', 'x')] }, keyed)
      .catch((e) => e);
    expect([again.status, again.code]).to.deep.equal([409, 'message_exists']);
    expect(added.data).to.have.length(1);
    const { messages } = await gateway.session(id, { user: { id: 'alice' } }).history();
    expect(messages.map((message) => textOf(message))).to.deep.equal(['one', 'two', 'three']);
  });

  it('are refused while a response is made, and to others; odd bodies change nothing', async () => {
    const [began, held] = [gate(), gate()];
    const { baseURL } = await startResponses({
      app: defineApp({
        async *run() {
          yield 'a';
          began.open();
          await held.passed;
        },
      }),
    });
    const client = new OpenAI({ baseURL, apiKey: 'alice', maxRetries: 0 });
    const { id } = await client.conversations.create({ items: [said('user', 'one')] });
    const running = client.responses.create({ model: 'default', input: 'two', conversation: id });
    await began.passed;
    const status = async (call: Promise<unknown>) => {
      const { status, code } = (await call.then(
        () => ({}),
        (error) => error,
      )) as any;
      return [status, code];
    };
    const add = (of: OpenAI, items: unknown) => status(of.conversations.items.create(id, { items } as never));
    expect(await add(client, [said('user', 'x')])).to.deep.equal([409, 'session_busy']);
    held.open();
    await running;
    const [item] = (await client.conversations.items.list(id, { order: 'asc' })).data;
    const eve = new OpenAI({ baseURL, apiKey: 'eve', maxRetries: 0 });
    expect(await add(eve, [said('user', 'x')])).to.deep.equal([404, 'not_found']);
    const own = { conversation_id: id };
    expect(await status(eve.conversations.items.delete(item!.id!, own))).to.deep.equal([404, 'not_found']);
    for (const items of [[], 'x', [{}], [{ type: 'nothing' }], [7], Array(1001).fill(said('user', 'x'))])
      expect((await add(client, items))[0], JSON.stringify(items).slice(0, 40)).to.equal(400);
    for (const odd of ['msg_none', 'msg_~', '%00', 'msg_%zz', `msg_${'x'.repeat(5000)}`]) {
      const { status: answered } = await fetch(`${baseURL}/conversations/${id}/items/${odd}`, {
        method: 'DELETE',
        headers: as('alice'),
      });
      expect(answered, odd.slice(0, 20)).to.be.oneOf([400, 404, 414]);
    }
    expect((await client.conversations.items.list(id)).data).to.have.length(3);
    const { status: unsaid } = await post(
      `${baseURL}/conversations/${id}/items`,
      { items: [said('user', '')] },
      as('alice'),
    );
    expect(unsaid).to.be.oneOf([200, 400]);
  });
});
