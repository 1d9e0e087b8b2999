import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { type AiSdkRun, aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { startApp } from '../start-app.js';
import { ends, says, scriptedModel } from './scripted-model.js';

/** An endpoint over real HTTP and the app before it, in each form. */
async function start(form: 'settings' | 'agent' | 'function' | 'resumable') {
  const endpoint = await ChatEndpoint.start();
  const model = createOpenAICompatible({ name: 'test', baseURL: endpoint.url, includeUsage: true })('tiny');
  const settings = { model, maxRetries: 0 };
  const own: AiSdkRun = (turn, messages) =>
    streamText({ ...settings, messages, abortSignal: turn.signal, onError: () => {} });
  const source = { settings, resumable: settings, agent: new ToolLoopAgent(settings), function: own }[form];
  return { endpoint, ...(await startApp(aiSdkApp(source, { resumable: form === 'resumable' }))) };
}

for (const form of ['settings', 'agent', 'function', 'resumable'] as const) {
  describe(`the upstream of an AI SDK app (${form})`, () => {
    it('is read as it streams', async () => {
      const { endpoint, client } = await start(form);
      const run = client.send('main', 'Hello');
      const request = await endpoint.next(1);
      const text = run.text[Symbol.asyncIterator]();
      request.chunk({ role: 'assistant', content: 'Hi ' });
      expect((await text.next()).value).to.equal('Hi ');
      request.chunk({ content: 'there' }).finish();
      const { message, stopReason, usage } = await run.result;
      expect([textOf(message), stopReason]).to.deep.equal(['Hi there', 'end']);
      expect(usage).to.include({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    });

    it('loses its connection when the run is aborted', async () => {
      const { endpoint, client } = await start(form);
      const run = client.send('main', 'Hello');
      const request = await endpoint.next(1);
      request.chunk({ content: 'Well, ' });
      await run.text[Symbol.asyncIterator]().next();
      await run.abort();
      await request.closed;
      expect(request.finished).to.equal(false);
      expect((await run.result).stopReason).to.equal('aborted');
    });

    it('that refuses ends the run as an error, with its words in the log alone', async () => {
      const { endpoint, client, log } = await start(form);
      const run = client.send('main', 'Hello');
      (await endpoint.next(1)).fail(400, 'the key hunter2 is wrong');
      const types: string[] = [];
      for await (const { type } of run) types.push(type);
      expect(types.slice(-2)).to.deep.equal(['run_error', 'message_end']);
      const { stopReason, error } = await run.result;
      expect(stopReason).to.equal('error');
      expect(error).to.deep.equal({ code: 'UPSTREAM_FAILED', message: "The app's upstream failed" });
      const logged = log.lines.map(({ details }) => (details as { err: Error }).err);
      expect(logged.map(String).join()).to.contain('hunter2');
    });

    it('that breaks off ends the run as an error, with what it had said', async () => {
      const { endpoint, client } = await start(form);
      const run = client.send('main', 'Hello');
      const request = await endpoint.next(1);
      request.chunk({ content: 'Half' });
      await run.text[Symbol.asyncIterator]().next();
      request.cut();
      const { stopReason, error, message } = await run.result;
      expect([stopReason, error?.code, textOf(message)]).to.deep.equal(['error', 'UPSTREAM_FAILED', 'Half']);
    });
  });
}

describe('an AI SDK stream', () => {
  it('that the model ends with an error is an error of the run', async () => {
    const { client } = await startApp(aiSdkApp({ model: scriptedModel([...says('Oh'), ends('error')]) }));
    const { stopReason, error } = await client.send('main', 'Hello').result;
    expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
  });

  it('that could not even begin is one too', async () => {
    const { client, log } = await startApp(
      aiSdkApp(() => {
        throw new Error('no model today');
      }),
    );
    expect((await client.send('main', 'Hello').result).error?.code).to.equal('UPSTREAM_FAILED');
    expect(JSON.stringify(log.lines.map(({ details }) => String((details as any).err)))).to.contain(
      'no model',
    );
  });

  it('that its own time-out stopped is one too', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = createOpenAICompatible({ name: 'test', baseURL: endpoint.url })('tiny');
    const { client } = await startApp(
      aiSdkApp((turn, messages) => {
        const abortSignal = AbortSignal.any([turn.signal, AbortSignal.timeout(20)]);
        return streamText({ model, messages, abortSignal, maxRetries: 0 });
      }),
    );
    expect((await client.send('main', 'Hello').result).error?.code).to.equal('UPSTREAM_FAILED');
  });
});
