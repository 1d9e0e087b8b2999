import type { UIMessage as Message6, ChatTransport as Transport6 } from 'ai';
import type { UIMessage as Message5, ChatTransport as Transport5 } from 'ai5';
import type { UIMessage as Message7, ChatTransport as Transport7 } from 'ai7';
import { expect } from 'chai';
import { gatewayChat } from '../../../client/ai-sdk/index.js';
import { createClient } from '../../../client/index.js';
import { defineApp } from '../../../server/index.js';
import {
  actor,
  MAJORS,
  plain,
  startUi,
  textIn,
  type UiGateway,
  userSays,
} from '../../plugins/ui-message-stream/fixtures.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { gate } from '../../support/gate.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

function transportOf(url: string, options = {}) {
  const client = createClient({ baseUrl: url, token: 'alice' });
  closeLater(client, (it) => it.disconnect());
  return gatewayChat(client, options);
}

const chatOver = (ui: UiGateway, major: (typeof MAJORS)[number], transport: object, init = {}) =>
  ui.chat(major, { ...init, transport });

describe('gatewayChat', () => {
  it('is a transport of every major, by its type', () => {
    const transport = gatewayChat(createClient({ baseUrl: 'http://127.0.0.1' }));
    const five: Transport5<Message5> = transport;
    const six: Transport6<Message6> = transport;
    const seven: Transport7<Message7> = transport;
    expect(new Set([five, six, seven])).to.have.property('size', 1);
  });

  for (const major of MAJORS) {
    it(`does not show a chat that its connection was cut, wherever that was: AI SDK ${major.major}`, async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, limits: { sendsPerSecond: 1000 } });
      const proxy = await CuttingProxy.start(ui.url);
      const transport = transportOf(proxy.url);
      const text = 'think hello look data bye';
      const uncut = chatOver(ui, major, transport, { id: 'uncut' });
      await uncut.sendMessage({ text });
      for (let at = 1; at <= 12; at++) {
        proxy.cuts.push(at * 180, at * 90);
        const chat = chatOver(ui, major, transportOf(proxy.url), { id: `cut-${at}` });
        await chat.sendMessage({ text });
        expect(chat.error, `cut ${at}`).to.equal(undefined);
        expect(textIn(chat.messages[1])).to.equal(textIn(uncut.messages[1]));
        expect(chat.messages[1].parts.length).to.equal(uncut.messages[1].parts.length);
        proxy.cuts.length = 0;
      }
      expect(proxy.cut).to.be.greaterThan(8);
      expect(effects).to.have.length(13);
    });

    it(`tells the whole answer again to who has left and comes back: AI SDK ${major.major}`, async () => {
      const held = gate();
      const app = defineApp({
        async *run() {
          yield 'Hello ';
          await held.passed;
          yield 'world';
        },
      });
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
