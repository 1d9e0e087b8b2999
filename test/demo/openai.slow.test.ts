import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { textOf } from '../../shared/messages.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKEN = 'a-demo-token-of-more-than-32-bytes';

async function startDemo() {
  const endpoint = await ChatEndpoint.start();
  const program = runProgram('server/demo/main.ts', {
    env: {
      PORT: '0',
      GATEWAY_TOKEN: TOKEN,
      OPENAI_BASE_URL: endpoint.url,
      OPENAI_MODEL: 'tiny',
      OPENAI_API_KEY: 'a-key',
    },
  });
  const [, url] = await program.prints(/^ {2}URL +(http\S+)\n/m);
  const client = closeLater(createClient({ baseUrl: url!, token: TOKEN }), (it) => it.disconnect());
  return { endpoint, client };
}

describe('npm start with OPENAI_BASE_URL', () => {
  it('streams what the endpoint answers, with the history, usage and stop reason', async () => {
    const { endpoint, client } = await startDemo();
    const first = client.send('main', 'Hello');
    const asked = await endpoint.next(1);
    expect(asked.headers.authorization).to.equal('Bearer a-key');
    expect(asked.body).to.deep.include({
      model: 'tiny',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const text = first.text[Symbol.asyncIterator]();
    asked.chunk({ role: 'assistant', content: 'Hi ' });
    expect((await text.next()).value).to.equal('Hi ');
    asked.chunk({ content: 'there' }).finish();
    const { message, stopReason, usage } = await first.result;
    expect(textOf(message)).to.equal('Hi there');
    expect(stopReason).to.equal('end');
    expect(usage).to.deep.equal({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });

    const second = client.send('main', 'Again');
    const again = await endpoint.next(2);
    expect(again.body.messages).to.deep.equal([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi there' },
      { role: 'user', content: 'Again' },
    ]);
    again.chunk({ content: 'Cut' }).finish('length');
    expect((await second.result).stopReason).to.equal('max_tokens');
  });

  it('needs OPENAI_MODEL', async () => {
    const program = runProgram('server/demo/main.ts', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } });
    expect(await program.exited).to.equal(1);
    expect(program.output).to.equal('OPENAI_MODEL is needed with OPENAI_BASE_URL\n');
  });
});
