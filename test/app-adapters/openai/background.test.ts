import { expect } from 'chai';
import { OpenAI } from 'openai';
import { backgroundResponse, openaiApp } from '../../../server/app-adapters/openai/index.js';
import { defineApp, tool } from '../../../server/index.js';
import { loadDriver } from '../../../server/stores/sqlite/driver.js';
import { textOf } from '../../../shared/messages.js';
import { BackgroundEndpoint } from '../../support/background-endpoint.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { startGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';

const appOf = ({ url }: BackgroundEndpoint, options: object = {}) =>
  openaiApp({ baseURL: url, model: 'tiny', background: true, resumable: true, ...options });

async function start(options: object = {}) {
  const endpoint = await BackgroundEndpoint.start();
  const started = await startGateway({ app: appOf(endpoint, options) });
  return { endpoint, ...started, client: connectClient(started.url) };
}

/** What an answer of the test says: piece by piece. */
const PIECES = ['Once ', 'upon ', 'a time, ', 'in the ', 'log.'];
const TEXT = PIECES.join('');

describe('openaiApp in the background', () => {
  it('asks by the Responses API, and streams text, reasoning, usage and stop reason', async () => {
    const { endpoint, client } = await start({
      instructions: 'Be kind.',
      parameters: { max_tokens: 5, reasoning_effort: 'low', stop: ['x'], temperature: 0 },
    });
    const run = client.send('main', 'Hello');
    const answer = await endpoint.next(1);
    expect(answer.body).to.deep.equal({
      ...{ model: 'tiny', background: true, store: true, stream: true },
      ...{ temperature: 0, max_output_tokens: 5, reasoning: { effort: 'low' } },
      input: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    const text = run.text[Symbol.asyncIterator]();
    answer.reasoning('Hm.').text('Hi ');
    expect((await text.next()).value).to.equal('Hi ');
    answer.text('there').finish();
    const { message, stopReason, usage } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hi there' },
    ]);
    expect(stopReason).to.equal('end');
    expect(usage).to.deep.equal({ inputTokens: 7, outputTokens: 8, totalTokens: 15 });
  });

  it('calls tools, and asks again with their results', async () => {
    const weather = tool({ handler: () => 'sunny' });
    const { endpoint, client } = await start({ tools: { weather } });
    const run = client.send('main', 'Weather?');
    const first = await endpoint.next(1);
    expect(first.body.tools).to.deep.include({
      ...{ type: 'function', name: 'weather', strict: false },
      parameters: { type: 'object', properties: {} },
    });
    first.text('I look.').call('c1', 'weather', { city: 'Rome' }).finish();
    const second = await endpoint.next(2);
    expect(second.body.input).to.deep.equal([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
    ]);
    second.text('Sunny.').finish('incomplete');
    const { message, stopReason } = await run.result;
    expect(textOf(message)).to.equal('I look.Sunny.');
    expect(stopReason).to.equal('max_tokens');
  });

  it('reads the same answer on after a crash: the text is exact, and the model is asked once', async () => {
    const endpoint = await BackgroundEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf(endpoint) });
    const run = connectClient(first.url).send('main', 'Tell');
    const { runId } = await run.accepted;
    const answer = await endpoint.next(1);
    answer.text(PIECES[0]!);
    await run.text[Symbol.asyncIterator]().next();
    const copy = crashed(path);
    // The provider goes on while no gateway is up.
    for (const piece of PIECES.slice(1)) answer.text(piece);
    answer.finish();
    const second = await startDurable(copy, { app: appOf(endpoint) });
    const { message, usage, stopReason } = await connectClient(second.url).session('main').run(runId).result;
    expect([textOf(message), stopReason]).to.deep.equal([TEXT, 'end']);
    expect(usage).to.include({ inputTokens: 7, outputTokens: TEXT.length });
    expect(endpoint.answers).to.have.length(1);
    expect(endpoint.retrieved).to.deep.equal([['resp_1', 0]]);
    expect(answer.isCancelled).to.equal(false);
  });

  it('goes on where the stream broke off, from the last event that it saw', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Tell');
    const answer = await endpoint.next(1);
    for (const [at, piece] of PIECES.entries()) {
      answer.text(piece);
      await until(async () => {
        const { run } = await client.session('main').state();
        return run !== null && textOf(run.message).endsWith(piece);
      });
      answer.cut();
      await endpoint.until(() => endpoint.retrieved.length > at);
    }
    answer.finish();
    expect(textOf((await run.result).message)).to.equal(TEXT);
    // Two events come before the first piece.
    expect(endpoint.retrieved).to.deep.equal(PIECES.map((_, at) => ['resp_1', at + 2]));
    expect(endpoint.answers).to.have.length(1);
  });

  it('cancels the answer when the run is aborted, and not when its gateway hands it over', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Tell');
    const answer = await endpoint.next(1);
    answer.text('Once ');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await endpoint.until(() => answer.isCancelled);
    const path = newDatabase();
    const leaving = await startDurable(path, { app: appOf(endpoint) });
    const handed = connectClient(leaving.url).send('main', 'Tell');
    const { runId } = await handed.accepted;
    handed.result.catch(() => {});
    const other = await endpoint.next(2);
    other.text('Once ');
    await handed.text[Symbol.asyncIterator]().next();
    await leaving.gateway.close();
    other.text('more').finish();
    expect(other.isCancelled).to.equal(false);
    const next = await startDurable(path, { app: appOf(endpoint) });
    const { message } = await connectClient(next.url).session('main').run(runId).result;
    expect(textOf(message)).to.equal('Once more');
    expect(endpoint.answers).to.have.length(2);
  });

  it('asks anew for an answer that its provider has dropped, and fails with one that failed', async () => {
    const endpoint = await BackgroundEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf(endpoint) });
    const run = connectClient(first.url).send('main', 'Tell');
    const { runId } = await run.accepted;
    (await endpoint.next(1)).text('Once ');
    await run.text[Symbol.asyncIterator]().next();
    const copy = crashed(path);
    const [dropped] = endpoint.answers.splice(0);
    const second = await startDurable(copy, { app: appOf(endpoint) });
    const again = await endpoint.next(1);
    expect(again).not.to.equal(dropped);
    again.text('Once ').text('again').finish('failed');
    const { message, stopReason, error } = await connectClient(second.url).session('main').run(runId).result;
    expect(textOf(message)).to.equal('Once again');
    expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
  });

  it('is for a step of any app, by the official client', async () => {
    const endpoint = await BackgroundEndpoint.start();
    const openai = new OpenAI({ baseURL: endpoint.url, apiKey: 'none' });
    const app = defineApp({
      resumable: true,
      run: (turn) =>
        turn.step('research', async (step) => {
          let text = '';
          for await (const event of backgroundResponse(openai, { model: 'tiny', input: turn.text }, step))
            if (event.type === 'response.output_text.delta') text += event.delta;
          return text;
        }),
    });
    const path = newDatabase();
    const first = await startDurable(path, { app });
    const { runId } = await connectClient(first.url).send('main', 'Tell').accepted;
    const answer = await endpoint.next(1);
    await until(async () => (await stepsIn(crashed(path))) === 2);
    answer.text('Half ');
    const second = await startDurable(crashed(path), { app });
    await endpoint.until(() => endpoint.retrieved.length > 0);
    answer.text('and half').finish();
    const { message } = await connectClient(second.url).session('main').run(runId).result;
    expect(textOf(message)).to.equal('Half and half');
    expect(endpoint.answers).to.have.length(1);
  });
});

/** Number of records of steps in a database: one that a step has begun, and one of its note. */
async function stepsIn(path: string): Promise<number> {
  const db = (await loadDriver())(path);
  const { n } = db.prepare('SELECT count(*) AS n FROM step').get()!;
  db.close();
  return Number(n);
}
