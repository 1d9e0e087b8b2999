import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { expect } from 'chai';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { anthropicApp } from '../../server/app-adapters/anthropic/index.js';
import { langGraphApp } from '../../server/app-adapters/langgraph/index.js';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { type Application, defineApp, memoryFiles } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import type { ContentBlock } from '../../shared/messages.js';
import { agent, runner } from '../app-adapters/agents/agents.js';
import { agentGraph } from '../app-adapters/langgraph/graphs.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { connectClient } from '../support/client.js';
import { PNG, uploaded } from '../support/files.js';
import { post, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const ADAPTERS: Readonly<Record<string, (endpoint: ChatEndpoint) => Application>> = {
  openaiApp: ({ url }) => openaiApp({ baseURL: url, model: 'tiny' }),
  anthropicApp: ({ origin }) => anthropicApp({ baseURL: origin, model: 'tiny' }),
  aiSdkApp: ({ url }) => aiSdkApp({ model: createOpenAICompatible({ name: 'x', baseURL: url })('tiny') }),
  langGraphApp: (endpoint) => langGraphApp({ graph: agentGraph(endpoint).compile() }),
  agentsApp: (endpoint) => agentsApp({ agent: agent(endpoint), runner }),
};

const DATA = Buffer.from(PNG).toString('base64');
const SCOPE = JSON.stringify([null, 'alice']);

for (const [name, makeApp] of Object.entries(ADAPTERS)) {
  describe(`${name} and an uploaded file`, () => {
    const start = async (limits: object = {}) => {
      const endpoint = await ChatEndpoint.start();
      const files = memoryFiles();
      const { url } = await startGateway({ app: makeApp(endpoint), auth: byName, files, limits });
      const client = connectClient(url, { token: 'alice' });
      const { fileId, mediaType } = await uploaded(url, PNG);
      const look: ContentBlock[] = [
        { type: 'text', text: 'Look' },
        { type: 'image', mediaType, fileId },
      ];
      return { endpoint, files, client, fileId, look };
    };

    it('give the model its bytes, in the history too, and a remark once it is gone', async () => {
      const { endpoint, files, client, fileId, look } = await start();
      const first = client.send('main', look);
      const asked = await endpoint.next();
      expect(JSON.stringify(asked.body.messages)).to.include(DATA).and.not.include(fileId);
      asked.say('A dot.');
      await first.result;
      const second = client.send('main', 'And now?');
      const again = await endpoint.next();
      expect(JSON.stringify(again.body.messages)).to.include(DATA);
      again.say('The same.');
      await second.result;
      await files.delete(SCOPE, fileId);
      const third = client.send('main', 'And now?');
      const without = await endpoint.next();
      expect(JSON.stringify(without.body.messages))
        .to.include('[image/png: not available]')
        .and.not.include(DATA);
      without.say('Gone.');
      expect((await third.result).stopReason).to.equal('end');
    });

    it('end the run that is asked about one that is too large for a model, and no later one', async () => {
      const { endpoint, client, look } = await start({ inlineFileBytes: 10 });
      const { stopReason, error } = await client.send('main', look).result;
      expect([stopReason, error?.code]).to.deep.equal(['error', 'PAYLOAD_TOO_LARGE']);
      const next = client.send('main', 'Never mind');
      (await endpoint.next()).say('Well.');
      expect((await next.result).stopReason).to.equal('end');
    });
  });
}

describe('a chat completion and an uploaded file', () => {
  it('names it with file_id, and only its own', async () => {
    const app = defineApp({
      async *run(turn) {
        for (const block of turn.message.content)
          if ('fileId' in block && block.fileId)
            yield `${block.mediaType} ${(await turn.file(block.fileId)).size}`;
      },
    });
    const { gateway, url } = await startGateway({ app, auth: byName });
    gateway.use(chatCompletionsPlugin());
    const { fileId } = await uploaded(url, PNG);
    const body = {
      model: 'default',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: fileId } }] }],
    };
    const mine = await post(`${url}/v1/chat/completions`, body, as('alice'));
    expect(mine.body.choices?.[0].message.content, JSON.stringify(mine.body)).to.equal(
      `image/png ${PNG.length}`,
    );
    const yours = await post(`${url}/v1/chat/completions`, body, as('bob'));
    expect(yours.status).to.equal(404);
    expect(yours.body.error.message).to.include('There is no file');
  });
});
