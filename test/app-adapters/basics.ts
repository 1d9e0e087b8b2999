import { expect } from 'chai';
import type { Application } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { follow, serve } from './served.js';

/** What every adapter has to show of an app that does no more than ask a model. */
export function behavesLikeAnAdapter(makeApp: (endpoint: ChatEndpoint) => Application): void {
  it('streams text and reasoning as the model writes them, with usage and stop reason', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(makeApp(endpoint));
    const run = client.send('main', 'Hello');
    const asked = await endpoint.next();
    expect(asked.body).to.deep.include({ model: 'tiny', stream: true });
    expect(asked.body.messages).to.have.length(1);
    const text = run.text[Symbol.asyncIterator]();
    asked.chunk({ reasoning_content: 'A greeting. ' }).text('Hi ');
    expect((await text.next()).value).to.equal('Hi ');
    asked.text('there').finish();
    const { message, stopReason, usage } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'A greeting. ' },
      { type: 'text', text: 'Hi there' },
    ]);
    expect(stopReason).to.equal('end');
    expect(usage).to.include({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
  });

  it('cancels the request to the model when the run is aborted, before and after the first byte', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(makeApp(endpoint));
    for (const said of ['', 'Well, ']) {
      const run = client.send('main', 'Hello');
      const asked = await endpoint.next();
      if (said !== '') {
        asked.text(said);
        await run.text[Symbol.asyncIterator]().next();
      }
      await run.abort();
      await asked.closed;
      expect(asked.finished).to.equal(false);
      const { message, stopReason } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['aborted', said]);
    }
  });

  it('gives the model a summary in place of the messages that it covers', async () => {
    const endpoint = await ChatEndpoint.start();
    const compact = { when: { messages: 5 }, keep: 2, make: () => 'the sum of it' };
    const { client } = await serve({ ...makeApp(endpoint), compact });
    const asked: unknown[] = [];
    for (const text of ['one', 'two', 'three']) {
      const run = client.send('main', text);
      const request = await endpoint.next();
      asked.push(
        request.body.messages.filter(({ role }: { readonly role: string }) => role !== 'system').length,
      );
      if (text === 'three')
        expect(JSON.stringify(request.body.messages)).to.match(/the sum of it.*two.*three/);
      request.text('ok').finish();
      await run.result;
    }
    expect(asked).to.deep.equal([1, 3, 4]);
  });

  for (const what of ['refuses', 'breaks off'] as const) {
    it(`ends with UPSTREAM_FAILED when the model ${what}, with what it had said; its words go to the log alone`, async () => {
      const endpoint = await ChatEndpoint.start();
      const { client, log } = await serve(makeApp(endpoint));
      const run = client.send('main', 'Hello');
      const asked = await endpoint.next();
      if (what === 'refuses') asked.fail(401, 'the key a-key is wrong');
      else asked.text('Half');
      const seen = follow(run, ({ type }) => type === 'content_delta' && asked.cut());
      const told = (await seen).filter(([type]) => type !== 'content_delta');
      expect(told).to.deep.equal([
        ['run_error', 'UPSTREAM_FAILED', "The app's upstream failed"],
        ['message_end', 'error'],
      ]);
      const result = await run.result;
      expect(textOf(result.message)).to.equal(what === 'refuses' ? '' : 'Half');
      expect(JSON.stringify(result)).to.not.contain('a-key');
      const logged = log.lines.filter(({ message }) => message.includes('the app failed'));
      expect(logged).to.have.length(1);
      if (what === 'refuses')
        expect(String((logged[0]!.details as any).err)).to.contain('the key a-key is wrong');
    });
  }
}
