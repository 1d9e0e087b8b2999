import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { collect } from '../../support/client.js';
import { MAJORS, plain, startResponses } from './fixtures.js';

const PATCH = '*** Begin\n"5"\n*** End';
const TOOL = {
  type: 'custom' as const,
  name: 'patch',
  description: 'Patches',
  format: { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: /.+/s' },
};

/** Calls the caller's tool with text, and as a model would whose tools have arguments. */
const patching = defineApp({
  async *run(turn: any) {
    yield JSON.stringify(turn.clientTools);
    for (const input of [PATCH, { input: PATCH }])
      yield `[${JSON.stringify(await turn.callTool('patch', input))}]`;
  },
});

/** Leaves the call to its caller, whose results begin another run. */
const leaving = defineApp({
  async *run(turn: any) {
    if (turn.message.role === 'tool')
      return JSON.stringify([...turn.history.slice(-1)[0].content, ...turn.message.content]);
    yield { type: 'tool_use', callId: 'c1', name: 'patch', input: PATCH } as const;
    return { stopReason: 'tool_use' } as const;
  },
});

for (const major of MAJORS)
  describe(`custom tools for openai ${major.major}`, () => {
    it('are called with text, streamed, and go on with what came of it, each time in the same run', async () => {
      const gateway = await startResponses({ app: patching });
      const client = gateway.client(major);
      const stream = client.responses.stream({ model: 'default', input: 'go', tools: [TOOL] });
      const events = await collect(stream);
      const first = await stream.finalResponse();
      const [message, call] = plain(first.output);
      expect(JSON.parse(message.content[0].text)).to.deep.equal([
        {
          name: 'patch',
          description: 'Patches',
          parameters: {
            type: 'object',
            properties: { input: { type: 'string' } },
            required: ['input'],
            additionalProperties: false,
          },
        },
      ]);
      expect(call).to.include({ type: 'custom_tool_call', name: 'patch', input: PATCH });
      expect(plain(first.tools)).to.deep.equal([TOOL]);
      const done = events.find(({ type }) => type === 'response.custom_tool_call_input.done');
      expect(plain(done)).to.include({ input: PATCH, item_id: call.id });

      let response = first;
      for (const output of ['patched', 'again']) {
        const { call_id } = plain(response.output).at(-1);
        const answer = { type: 'custom_tool_call_output' as const, call_id, output };
        response = (await client.responses.create({
          model: 'default',
          previous_response_id: response.id,
          input: [answer],
          tools: [TOOL],
        })) as typeof first;
        const { data } = await client.responses.inputItems.list(response.id);
        expect(plain(data[0])).to.include(answer);
      }
      expect(response.output_text).to.equal('["again"]');
      const { messages } = await gateway.gateway
        .session(first.id.slice('resp_'.length).split('~')[0]!, { user: { id: 'alice' } })
        .history();
      expect(messages).to.have.length(2);
    });

    it('may be chosen, and a missing answer is named', async () => {
      const gateway = await startResponses({ app: patching });
      const client = gateway.client(major);
      const body = { model: 'default', input: 'go', tools: [TOOL] };
      const asked = await client.responses.create({
        ...body,
        tool_choice: { type: 'custom', name: 'patch' },
      });
      const { call_id } = plain(asked.output).at(-1);
      const failed = async (more: object) =>
        (await client.responses.create({ ...body, ...more } as any).catch((error) => error)).message;
      expect(await failed({ previous_response_id: asked.id })).to.contain(call_id);
      expect(await failed({ tool_choice: { type: 'custom', name: 'other' } })).to.contain('other');
    });

    it('are left to their caller by an app that ends its run', async () => {
      const gateway = await startResponses({ app: leaving });
      const client = gateway.client(major);
      const asked = await client.responses.create({ model: 'default', input: 'go', tools: [TOOL] });
      const call = plain(asked.output).at(-1);
      expect(call).to.include({ type: 'custom_tool_call', input: PATCH });
      const next = await client.responses.create({
        model: 'default',
        input: [
          { role: 'user', content: 'go' },
          call,
          { type: 'custom_tool_call_output', call_id: call.call_id, output: 'patched' },
        ],
        tools: [TOOL],
      });
      const [use, result] = JSON.parse(next.output_text);
      expect(use).to.deep.include({ callId: 'c1', name: 'patch', input: PATCH });
      expect(result).to.deep.include({ callId: 'c1', name: 'patch', output: 'patched' });
    });
  });
