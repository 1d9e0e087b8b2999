import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { type AiSdkRun, aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { behavesLikeAnAdapter } from '../basics.js';
import { serve } from '../served.js';
import { ends, says, scriptedModel } from './scripted-model.js';

/** An app of each form before the endpoint of a test. */
function appOf(form: 'settings' | 'agent' | 'function' | 'resumable', endpoint: ChatEndpoint) {
  const model = createOpenAICompatible({ name: 'test', baseURL: endpoint.url, includeUsage: true })('tiny');
  const settings = { model, maxRetries: 0 };
  const own: AiSdkRun = (turn, messages) =>
    streamText({ ...settings, messages, abortSignal: turn.signal, onError: () => {} });
  const source = { settings, resumable: settings, agent: new ToolLoopAgent(settings), function: own }[form];
  return aiSdkApp(source, { resumable: form === 'resumable' });
}

for (const form of ['settings', 'agent', 'function', 'resumable'] as const)
  describe(`the upstream of an AI SDK app (${form})`, () => {
    behavesLikeAnAdapter((endpoint) => appOf(form, endpoint));
  });

describe('an AI SDK stream', () => {
  it('that the model ends with an error is an error of the run', async () => {
    const { client } = await serve(aiSdkApp({ model: scriptedModel([...says('Oh'), ends('error')]) }));
    const { stopReason, error } = await client.send('main', 'Hello').result;
    expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
  });

  it('that could not even begin is one too', async () => {
    const { client, log } = await serve(
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
    const { client } = await serve(
      aiSdkApp((turn, messages) => {
        const abortSignal = AbortSignal.any([turn.signal, AbortSignal.timeout(20)]);
        return streamText({ model, messages, abortSignal, maxRetries: 0 });
      }),
    );
    expect((await client.send('main', 'Hello').result).error?.code).to.equal('UPSTREAM_FAILED');
  });
});
