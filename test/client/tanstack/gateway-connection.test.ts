import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { gatewayConnection } from '../../../client/tanstack/index.js';
import type { defineApp } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { actor } from '../../plugins/actor.js';
import { answerIn, shown, speaking, type TanStackChat } from '../../plugins/ag-ui/tanstack-fixtures.js';
import { halting, TWO_HALTED } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';
import { byName } from '../../support/users.js';

async function start(app: ReturnType<typeof defineApp>) {
  const { gateway, url } = await startGateway({ auth: byName, app });
  const session = gateway.session('main', { user: { id: 'alice' } });
  const open = async (init: object = {}) => {
    const { ChatClient } = await import('@tanstack/ai-client');
    const client = createClient({ baseUrl: url, token: 'alice' });
    const connection = gatewayConnection(client, 'main');
    const chat = new ChatClient({ threadId: 'main', connection, ...init } as any);
    closeLater(chat, (it) => it.dispose());
    closeLater(client, (it) => it.disconnect());
    chat.attach();
    chat.subscribe();
    return {
      ...connection,
      chat: chat as unknown as TanStackChat & { getSessionGenerating(): boolean },
      client,
    };
  };
  const history = async () =>
    (await session.history()).messages.map((message) => `${message.role}: ${textOf(message).trim()}`);
  return { open, session, history };
}

const rolesIn = (chat: TanStackChat): string[] => chat.getMessages().map(({ role }) => role);

describe('gatewayConnection for TanStack AI', () => {
  it('sends, and is told the answer', async () => {
    const { app, runs } = speaking();
    const { open } = await start(app);
    const { chat } = await open();
    await chat.sendMessage('one two');
    expect(chat.getError()).to.equal(undefined);
    expect(answerIn(chat.getMessages())).to.equal('one two ');
    expect(chat.getStatus()).to.equal('ready');
    await chat.sendMessage('three');
    expect(rolesIn(chat)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    expect(runs()).to.equal(2);
  });

  it('has one subscription for all: what other tabs, programs and people say', async () => {
    const { app } = actor();
    const { open, session } = await start(app);
    const [one, two] = [await open(), await open()];
    await one.chat.sendMessage('think hello look bye');
    await until(() => shownIn(two.chat) === shownIn(one.chat));
    await session.send('from elsewhere').result;
    await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()) === 'from elsewhere '));
    expect(shownIn(two.chat)).to.equal(shownIn(one.chat));
    const late = await open();
    await until(() => shownIn(late.chat) === shownIn(one.chat));
  });

  it('joins an answer that is under way, and one is queued behind it', async () => {
    const { app, began, held, runs } = halting();
    const { open, history, session } = await start(app);
    const one = await open();
    const sent = one.chat.sendMessage('one');
    await began.passed;
    const two = await open();
    await until(() => answerIn(two.chat.getMessages()) === 'one begins ');
    const second = two.chat.sendMessage('two');
    await until(async () => (await session.status()).queued === 1);
    held.open();
    await Promise.all([sent, second]);
    await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()) === 'two begins and ends'));
    for (const { chat } of [one, two])
      expect(rolesIn(chat)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    expect(runs()).to.equal(2);
    expect(await history()).to.deep.equal(TWO_HALTED);
  });

  for (const approved of [true, false])
    it(`${approved ? 'approves' : 'denies'} in any of the tabs, once`, async () => {
      const { app, effects } = actor();
      const { open } = await start(app);
      const one = await open();
      const third = await open();
      await one.chat.sendMessage('before pay after');
      const two = await open();
      await until(() => [one, two].every(({ chat }) => chat.getInterrupts().length === 1));
      expect(effects).to.deep.equal([]);
      const [asked] = two.chat.getInterrupts();
      expect(asked).to.deep.include({ kind: 'generic', canResolve: true });
      asked.resolveInterrupt({ approved });
      await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()).endsWith('after ')));
      await until(() => [one, two].every(({ chat }) => chat.getInterrupts().length === 0));
      expect(effects).to.deep.equal(approved ? ['pay'] : []);
      const all = [one, two, third];
      // Those who did not answer hear of the end too.
      await until(() =>
        all.every(({ chat }) => chat.getStatus() === 'ready' && !chat.getSessionGenerating()),
      );
      await until(() => all.every(({ chat }) => shownIn(chat) === shownIn(two.chat)));
      await two.chat.sendMessage('thanks');
      await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()) === 'thanks '));
    });

  it('runs a tool of the page where the page began the run', async () => {
    const { app } = actor();
    const { open } = await start(app);
    const ran: string[] = [];
    const tools = (name: string) => [
      {
        name: 'where',
        description: 'Where',
        __toolSide: 'client',
        execute: async () => {
          ran.push(name);
          return { at: name };
        },
      },
    ];
    const one = await open({ tools: tools('one') });
    const two = await open({ tools: tools('two') });
    await one.chat.sendMessage('where bye');
    await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()).endsWith('bye ')));
    expect(ran).to.deep.equal(['one']);
    expect(answerIn(two.chat.getMessages())).to.include('one');
  });

  it('runs a tool that waits when its page is opened again', async () => {
    const { app } = actor();
    const { open, session } = await start(app);
    const tool = { name: 'where', description: 'Where', __toolSide: 'client' };
    const one = await open({ tools: [tool] });
    await one.chat.sendMessage('where bye');
    one.chat.dispose();
    expect((await session.status()).status).to.equal('waiting');
    const two = await open({ tools: [{ ...tool, execute: async () => ({ at: 'home' }) }] });
    await until(() => answerIn(two.chat.getMessages()).endsWith('bye '));
    expect(answerIn(two.chat.getMessages())).to.include('home');
  });

  it('edits and answers again, which every tab sees', async () => {
    const { app } = speaking();
    const { open, history } = await start(app);
    const [one, two] = [await open(), await open()];
    await one.chat.sendMessage('one');
    await one.chat.sendMessage('two');
    const { id } = one.chat.getMessages()[2];
    one.chat.setMessagesManually(one.chat.getMessages().slice(0, 2));
    await one.chat.sendMessage({ content: 'three', id });
    await until(() => [one, two].every(({ chat }) => answerIn(chat.getMessages()) === 'three '));
    expect(await history()).to.deep.equal(['user: one', 'assistant: one', 'user: three', 'assistant: three']);
    await one.chat.reload();
    await until(() => shownIn(one.chat) === shownIn(two.chat));
    expect(await history()).to.have.length(4);
  });

  it('stops the run for all', async () => {
    const { app, began } = halting();
    const { open, session, history } = await start(app);
    const [one, two] = [await open(), await open()];
    void one.chat.sendMessage('one');
    await began.passed;
    expect(await two.stop()).to.equal(true);
    await until(async () => (await session.status()).status === 'idle');
    expect(await history()).to.deep.equal(['user: one', 'assistant: one begins']);
    await until(() => one.chat.getStatus() !== 'streaming' && one.chat.getStatus() !== 'submitted');
  });
});

function shownIn(chat: TanStackChat): string {
  return JSON.stringify(shown(chat.getMessages()), (key, value) =>
    key === '' || Array.isArray(value) || typeof value !== 'object' || value === null
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
