import { expect } from 'chai';
import { type Client, createClient } from '../../client/index.js';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway, type DemoGateway } from '../../server/demo/demo-gateway.js';
import { STORY } from '../../server/demo/story.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { textOf } from '../../shared/messages.js';
import { newDatabase } from '../support/durable.js';
import { closeLater } from '../support/resources.js';

const tokens = {
  admin: 'an-admin-token-of-more-than-32-bytes',
  guest: 'a-guest-token-of-more-than-32-bytes',
};

async function startDemo(wordMs = 0): Promise<(token?: string) => Client<DemoGateway>> {
  const gateway = createDemoGateway({
    app: createDemoApp(wordMs),
    tokens,
    port: 0,
    limits: { drainMs: 100 },
  });
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  return (token = tokens.admin) =>
    closeLater(createClient<DemoGateway>({ baseUrl: url!, token }), (client) => client.disconnect());
}

async function answer(client: Client<DemoGateway>, session: string, text: string): Promise<string> {
  const { message, stopReason } = await client.send(session, text).result;
  expect(stopReason).to.equal('end');
  return textOf(message);
}

describe('demo app', () => {
  it('says on in another process what one did not live to end, no word twice', async () => {
    const path = newDatabase();
    const start = async () => {
      const app = createDemoApp(1, true);
      const store = sqliteStore({ path });
      const gateway = createDemoGateway({ app, tokens, port: 0, store, limits: { drainMs: 0 } });
      closeLater(gateway, (it) => it.close());
      await gateway.start();
      return { gateway, session: gateway.session('main', { user: { id: 'ada' } }) };
    };
    for (let n = 0; n < 3; n++) {
      const { gateway, session } = await start();
      if (n === 0) await session.send('story').accepted;
      let words = 0;
      for await (const { type } of session.events({ from: 'now' }))
        if (type === 'content_delta' && ++words > 20) break;
      await gateway.close();
    }
    const { session } = await start();
    for await (const { type } of session.events({ from: 'earliest' })) if (type === 'message_end') break;
    const { messages } = await session.history();
    expect(textOf(messages.at(-1)!)).to.equal(STORY.map((sentence) => `${sentence} `).join(''));
  });

  it('calls its weather tool', async () => {
    const client = (await startDemo())();
    const { message } = await client.send('main', 'weather in Oslo').result;
    expect(message.content.map(({ type }) => type)).to.deep.equal([
      'text',
      'tool_use',
      'tool_result',
      'data',
      'text',
    ]);
    expect(textOf(message)).to.equal('Let me look. It is cloudy in Oslo, 20 °C.');
  });

  for (const approved of [true, false]) {
    it(`asks before it deletes, and ${approved ? 'does as allowed' : 'leaves it when denied'}`, async () => {
      const client = (await startDemo())();
      const run = client.send('main', 'delete notes.txt');
      for await (const event of run) {
        if (event.type !== 'tool_confirmation_required') continue;
        expect(event).to.include({ name: 'delete', message: 'Delete notes.txt?' });
        await (approved
          ? client.session('main').approve(event.callId)
          : client.session('main').deny(event.callId));
      }
      const { message, stopReason } = await run.result;
      expect(stopReason).to.equal('end');
      expect(textOf(message)).to.match(approved ? /notes\.txt is gone/ : /Then notes\.txt stays/);
    });
  }

  it('has helpers look into something at the same time, each of them a run', async () => {
    const client = (await startDemo())();
    expect(await answer(client, 'main', 'research bees')).to.match(
      /^Three helpers look into bees\.\n\n- sources: .*nine sources\. \n- numbers: .*\n- doubts: .*\n$/,
    );
    const { messages } = await client.session('main').state();
    expect(messages.at(-1)!.children!.map(({ name, stopReason }) => `${name} ${stopReason}`)).to.deep.equal([
      ...['sources end', 'numbers end', 'doubts end'],
    ]);
  });

  it('tells a story that takes up what is said meanwhile', async () => {
    const client = (await startDemo(1))();
    const story = client.send('main', 'story');
    const pieces = story.text[Symbol.asyncIterator]();
    await pieces.next();
    const steer = client.send('main', 'more dragons', { onBusy: 'steer' });
    expect((await steer.result).stopReason).to.equal('steered');
    expect(textOf((await story.result).message)).to.contain('(You say: more dragons. Noted.)');
  });
});

describe('the type of the demo gateway', () => {
  it('tells a client the payload of its channels', () => {
    const client = createClient<DemoGateway>({ baseUrl: 'http://127.0.0.1:1' });
    const use = async () => {
      await client.channel('announcements').publish({ text: 'Hello' });
      // @ts-expect-error: a text is needed
      await client.channel('announcements').publish({ txt: 'Hello' });
      // @ts-expect-error: there is no such channel
      client.channel('news');
      for await (const { payload } of client.channel('announcements')) payload?.text.toUpperCase();
    };
    expect(use).to.be.a('function');
  });
});

describe('demo methods', () => {
  it('keep a list of tasks for each user, which an admin may archive', async () => {
    const clientOf = await startDemo();
    const admin = clientOf();
    const guest = clientOf(tokens.guest);
    const task = await guest.invoke('tasks:create', { title: 'Water the plants' });
    expect(task).to.include({ id: 1, title: 'Water the plants' });
    await admin.invoke('tasks:create', { title: 'Pay the rent' });
    expect(await guest.invoke('tasks:list')).to.deep.equal([task]);
    expect(await admin.invoke('tasks:admin:archive', { before: '2020-01-01' })).to.deep.equal({
      archived: 0,
    });
    expect(await admin.invoke('tasks:admin:archive', { before: '9999-12-31' })).to.deep.equal({
      archived: 2,
    });
    expect(await guest.invoke('tasks:list')).to.deep.equal([]);
  });
});
