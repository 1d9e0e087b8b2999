import { expect } from 'chai';
import { actor, MAJORS, startUi, textIn } from '../../plugins/ui-message-stream/fixtures.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { chatOver, transportOf } from './transports.js';

describe('gatewayChat', () => {
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
  }
});
