import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { textOf } from '../../shared/messages.js';
import { runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKEN = 'a-demo-token-of-more-than-32-bytes';

interface Asked {
  readonly authorization: string | undefined;
  readonly body: any;
  readonly response: ServerResponse;
}

/** A small endpoint that speaks OpenAI's chat completions; the test writes the answers. */
class Endpoint {
  readonly asked: Asked[] = [];
  #wake = () => {};
  readonly server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    this.asked.push({ authorization: request.headers.authorization, body: JSON.parse(text), response });
    this.#wake();
  });

  async next(count: number): Promise<Asked> {
    while (this.asked.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.asked[count - 1]!;
  }
}

function chunk(response: ServerResponse, delta: object, rest: object = {}): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'tiny', ...rest };
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...body })}\n\n`,
  );
}

function finish(response: ServerResponse, reason = 'stop'): void {
  chunk(response, {}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  chunk(response, {}, { choices: [], usage });
  response.end('data: [DONE]\n\n');
}

async function startDemo() {
  const endpoint = new Endpoint();
  endpoint.server.listen(0, '127.0.0.1');
  await once(endpoint.server, 'listening');
  closeLater(endpoint.server, (server) => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = endpoint.server.address() as AddressInfo;
  const program = runProgram('server/demo/main.ts', {
    env: {
      PORT: '0',
      GATEWAY_TOKEN: TOKEN,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_MODEL: 'tiny',
      OPENAI_API_KEY: 'a-key',
    },
  });
  const [, url] = await program.prints(/^ {2}URL +(http\S+)\n/m);
  const client = closeLater(createClient({ baseUrl: url!, token: TOKEN }), (it) => it.disconnect());
  return { endpoint, client, program };
}

describe('npm start with OPENAI_BASE_URL', () => {
  it('streams what the endpoint answers, with the history, usage and stop reason', async () => {
    const { endpoint, client } = await startDemo();
    const first = client.send('main', 'Hello');
    const asked = await endpoint.next(1);
    expect(asked.authorization).to.equal('Bearer a-key');
    expect(asked.body).to.deep.include({
      model: 'tiny',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const text = first.text[Symbol.asyncIterator]();
    chunk(asked.response, { role: 'assistant', content: 'Hi ' });
    expect((await text.next()).value).to.equal('Hi ');
    chunk(asked.response, { content: 'there' });
    finish(asked.response);
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
    chunk(again.response, { content: 'Cut' });
    finish(again.response, 'length');
    expect((await second.result).stopReason).to.equal('max_tokens');
  });

  it('ends the request to the endpoint when the run is aborted', async () => {
    const { endpoint, client } = await startDemo();
    const run = client.send('main', 'Hello');
    const { response } = await endpoint.next(1);
    chunk(response, { content: 'Well, ' });
    await run.text[Symbol.asyncIterator]().next();
    const closed = once(response, 'close');
    await run.abort();
    await closed;
    expect((await run.result).stopReason).to.equal('aborted');
  });

  it('ends the run as an error when the endpoint refuses, without telling its words', async () => {
    const { endpoint, client, program } = await startDemo();
    const run = client.send('main', 'Hello');
    const { response } = await endpoint.next(1);
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'the key a-key is wrong' } }));
    const { stopReason, error } = await run.result;
    expect(stopReason).to.equal('error');
    expect(error).to.deep.equal({ code: 'INTERNAL', message: 'The app failed' });
    await program.prints(/the app failed/);
  });

  it('needs OPENAI_MODEL', async () => {
    const program = runProgram('server/demo/main.ts', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } });
    expect(await program.exited).to.equal(1);
    expect(program.output).to.equal('OPENAI_MODEL is needed with OPENAI_BASE_URL\n');
  });
});
