import type { ChatInit, UIMessage as Message6, ChatTransport as Transport6 } from 'ai';
import type { UIMessage as Message5, ChatTransport as Transport5 } from 'ai5';
import type { UIMessage as Message7, ChatTransport as Transport7 } from 'ai7';
import { expect } from 'chai';
import { gatewayChat } from '../../../client/ai-sdk/index.js';
import { createClient } from '../../../client/index.js';
import { defineApp } from '../../../server/index.js';
import { actor, MAJORS, plain, startUi, textIn, userSays } from '../../plugins/ui-message-stream/fixtures.js';
import { heldApp } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { chatOver, transportOf } from './transports.js';

describe('gatewayChat', () => {
  it('is a transport of every major, by its type', () => {
    const transport = gatewayChat(createClient({ baseUrl: 'http://127.0.0.1' }));
    const five: Transport5<Message5> = transport;
    const six: Transport6<Message6> = transport;
    const seven: Transport7<Message7> = transport;
    expect(new Set([five, six, seven])).to.have.property('size', 1);
  });

  it("gives a page's first messages as those of every major, by their type", async () => {
    const ui = await startUi({ app: actor().app });
    const transport = transportOf(ui.url);
    const messages = await transport.messages('main');
    const five: Message5[] = messages;
    const six: Message6[] = messages;
    const seven: Message7[] = messages;
    const init: ChatInit<Message6> = { id: 'main', messages, transport };
    expect([five, six, seven, init.messages]).to.deep.equal([[], [], [], []]);
  });

  for (const major of MAJORS) {
    it(`tells the whole answer again to who has left and comes back: AI SDK ${major.major}`, async () => {
      const { app, held } = heldApp('Hello ', 'world');
      const ui = await startUi({ app });
      const transport = transportOf(ui.url);
      const chat = chatOver(ui, major, transport);
      const sending = chat.sendMessage({ text: 'x' });
      await until(() => textIn(chat.messages[1]) === 'Hello ');
      await chat.stop();
      await sending;
      const reloaded = chatOver(ui, major, transportOf(ui.url), { messages: plain(chat.messages) });
      const resuming = [chat, reloaded].map((it) => it.resumeStream());
      await until(() => [chat, reloaded].every((it) => it.status === 'streaming'));
      held.open();
      await Promise.all(resuming);
      expect(reloaded.messages.map(textIn)).to.deep.equal(['x', 'Hello world']);
      expect(chat.messages.map(textIn)).to.deep.equal(['x', 'Hello world']);
      expect(await transport.reconnectToStream({ chatId: 'main' })).to.equal(null);
      expect((await transport.messages('main')).map(textIn)).to.deep.equal(['x', 'Hello world']);
    });
  }

  it('stops a run, has an app of its own, and nothing of a chat that has not begun', async () => {
    const held = gate();
    const other = defineApp({
      async *run() {
        yield 'other';
        await held.passed;
      },
    });
    const { app } = actor();
    const ui = await startUi({ apps: { app, other }, defaultApp: 'app' });
    const transport = transportOf(ui.url, { app: 'other' });
    expect(await transport.messages('main')).to.deep.equal([]);
    expect(await transport.reconnectToStream({ chatId: 'main' })).to.equal(null);
    const chat = chatOver(ui, MAJORS[1]!, transport);
    const sending = chat.sendMessage({ text: 'x' });
    await until(() => textIn(chat.messages[1]) === 'other');
    expect(await transport.stop('main')).to.equal(true);
    await sending;
    expect(chat.status).to.equal('ready');
    held.open();
  });

  it('goes on with a question after a reload, over the same frames as the door', async () => {
    const { app, effects } = actor();
    const ui = await startUi({ app });
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'a both b')] })).text();
    const six = MAJORS[1]!;
    const transport = transportOf(ui.url);
    const chat = chatOver(ui, six, transport, {
      messages: await transport.messages('main'),
      sendAutomaticallyWhen: six.sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.resumeStream();
    const asked = chat.messages[1].parts.filter(({ state }: any) => state === 'approval-requested');
    expect(asked).to.have.length(2);
    for (const { approval } of asked) await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => chat.status === 'ready' && textIn(chat.messages[1]).endsWith('b '));
    expect(effects).to.deep.equal(['pay', 'pay']);
    const { messages } = await (await ui.ask('/main')).json();
    expect(textIn(messages[1])).to.equal(textIn(chat.messages[1]));
  });
});
