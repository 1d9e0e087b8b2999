import { expect } from 'chai';
import { z } from 'zod';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { tool } from '../../server/index.js';
import { scriptedModel, testGateways, textOf, toolCallsOf } from '../../testing/index.js';
import { closeLater } from '../support/resources.js';

const start = testGateways(afterEach);

describe('a scripted model', () => {
  it('calls tools of an app that is made of an endpoint, and fails as one', async () => {
    const model = await scriptedModel([
      [{ call: 'weather', input: { city: 'Oslo' } }],
      ['It ', 'rains.'],
      [{ fail: 500 }],
    ]);
    closeLater(model, (it) => it.close());
    const weather = tool({
      schema: z.object({ city: z.string() }),
      handler: ({ city }) => `rain in ${city}`,
    });
    const app = openaiApp({ baseURL: model.baseURL, apiKey: 'none', model: 'scripted', tools: { weather } });
    const client = (await start({ app })).client();
    const { message } = await client.send('main', 'How is Oslo?').result;
    expect(textOf(message)).to.equal('It rains.');
    expect(toolCallsOf(message)).to.deep.include.members([
      { name: 'weather', input: { city: 'Oslo' }, output: 'rain in Oslo', isError: false },
    ]);
    expect(model.requests.map(({ messages }) => messages.at(-1)!.role)).to.deep.equal(['user', 'tool']);
    expect((await client.send('main', 'And now?').result).stopReason).to.equal('error');
  });
});
