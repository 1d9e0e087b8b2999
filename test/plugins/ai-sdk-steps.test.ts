import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai';
import * as ai6 from 'ai';
import { createOpenAI as createOpenAI4 } from 'ai-openai4';
import * as ai7 from 'ai7';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { startChat } from './chat-completions/fixtures.js';

/** Majors of the SDK and of its provider that work together; their types differ in what tests don't look at. */
const PAIRS = [
  { name: 'ai 6 and openai 3', sdk: ai6, createOpenAI: createOpenAI3 },
  { name: 'ai 7 and openai 3', sdk: ai7, createOpenAI: createOpenAI3 },
  { name: 'ai 7 and openai 4', sdk: ai7, createOpenAI: createOpenAI4 },
] as unknown as readonly { readonly name: string; readonly sdk: any; readonly createOpenAI: any }[];

/** What goes on behind the caller's tool: the run that waits for it, or another one. */
const APPS = {
  waits: defineApp({
    async *run(turn: any) {
      yield 'First. ';
      yield `Second: ${await turn.callTool('weather', { city: 'Rome' })}.`;
    },
  }),
  leaves: defineApp({
    async *run(turn: any) {
      if (turn.message.role === 'tool') return `Second: ${turn.message.content[0].output}.`;
      yield 'First. ';
      yield { type: 'tool_use', callId: 'c1', name: 'weather', input: { city: 'Rome' } } as const;
      return { stopReason: 'tool_use' } as const;
    },
  }),
};

for (const { name, sdk, createOpenAI } of PAIRS)
  for (const api of ['responses', 'chat'])
    describe(`streamText of ${name} over ${api}`, () => {
      const stream = async (app: keyof typeof APPS, options: object) => {
        const { baseURL, gateway } = await startChat({ app: APPS[app] });
        gateway.use(responsesPlugin());
        const weather = sdk.tool({
          description: 'Tells the weather',
          inputSchema: sdk.jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
          execute: async () => 'sunny',
        });
        const provider = createOpenAI({ baseURL, apiKey: 'alice' });
        const result = sdk.streamText({
          model: provider[api]('default'),
          prompt: 'Weather?',
          maxRetries: 0,
          tools: { weather },
          ...options,
        });
        let streamed = '';
        for await (const delta of result.textStream) streamed += delta;
        return { streamed, text: await result.text, steps: (await result.steps).length };
      };

      for (const app of ['waits', 'leaves'] as const)
        it(`has the text of both steps of a tool, from an app that ${app}`, async () => {
          const stopWhen = (sdk.stepCountIs ?? sdk.isStepCount)(5);
          expect(await stream(app, { stopWhen })).to.deep.equal({
            streamed: 'First. Second: sunny.',
            text: 'Second: sunny.',
            steps: 2,
          });
        });

      it('ends behind its first step where it is not told to go on, which is the SDK’s own choice', async () => {
        expect(await stream('waits', {})).to.deep.equal({ streamed: 'First. ', text: 'First. ', steps: 1 });
      });
    });
