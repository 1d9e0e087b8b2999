import { expect } from 'chai';
import type { ResponseInputItem } from 'openai7/resources/responses/responses';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { type ContentBlock, defineApp } from '../../../server/index.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { MAJORS, plain, startResponses } from './fixtures.js';

const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

/** Answers with all that it knows, block by block. */
function knowing() {
  return defineApp({
    run: ({ history, message }) =>
      JSON.stringify([...history, message].map(({ role, content }) => [role, content])),
  });
}

/** What was said elsewhere: an item of each kind that the newest client knows, and what the app has of it. */
const ITEMS: { readonly [Type in ResponseInputItem['type'] & string]: readonly [object, ContentBlock[]] } = {
  message: [{ role: 'user', content: 'hi' }, [{ type: 'text', text: 'hi' }]],
  function_call: [
    { call_id: 'c1', name: 'look', arguments: '{"n":1}' },
    [{ type: 'tool_use', callId: 'c1', name: 'look', input: { n: 1 } }],
  ],
  function_call_output: [
    { call_id: 'c1', output: 'seen' },
    [{ type: 'tool_result', callId: 'c1', name: 'unknown', output: 'seen', isError: false }],
  ],
  custom_tool_call: [
    { call_id: 'c2', name: 'patch', input: 'free text' },
    [{ type: 'tool_use', callId: 'c2', name: 'patch', input: 'free text' }],
  ],
  custom_tool_call_output: [
    { call_id: 'c2', output: [{ type: 'input_text', text: 'patched' }] },
    [{ type: 'tool_result', callId: 'c2', name: 'unknown', output: 'patched', isError: false }],
  ],
  local_shell_call: [
    { id: 'l1', call_id: 'c3', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
    [
      {
        type: 'tool_use',
        callId: 'c3',
        name: 'local_shell',
        input: { action: { type: 'exec', command: ['ls'], env: {} } },
      },
    ],
  ],
  local_shell_call_output: [
    { id: 'c3', output: 'a.txt' },
    [{ type: 'tool_result', callId: 'c3', name: 'local_shell', output: 'a.txt', isError: false }],
  ],
  shell_call: [
    { call_id: 'c4', action: { commands: ['pwd'] } },
    [{ type: 'tool_use', callId: 'c4', name: 'shell', input: { action: { commands: ['pwd'] } } }],
  ],
  shell_call_output: [
    { call_id: 'c4', output: [{ stdout: '/', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
    [
      {
        type: 'tool_result',
        callId: 'c4',
        name: 'shell',
        output: [{ stdout: '/', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        isError: false,
      },
    ],
  ],
  apply_patch_call: [
    { call_id: 'c5', status: 'completed', operation: { type: 'delete_file', path: 'a' } },
    [
      {
        type: 'tool_use',
        callId: 'c5',
        name: 'apply_patch',
        input: { operation: { type: 'delete_file', path: 'a' } },
      },
    ],
  ],
  apply_patch_call_output: [
    { call_id: 'c5', status: 'failed' },
    [{ type: 'tool_result', callId: 'c5', name: 'apply_patch', output: 'failed', isError: true }],
  ],
  computer_call: [
    {
      id: 'u1',
      call_id: 'c6',
      pending_safety_checks: [],
      status: 'completed',
      action: { type: 'screenshot' },
    },
    [
      {
        type: 'tool_use',
        callId: 'c6',
        name: 'computer',
        input: { pending_safety_checks: [], action: { type: 'screenshot' } },
      },
    ],
  ],
  computer_call_output: [
    { call_id: 'c6', output: { type: 'computer_screenshot', image_url: PICTURE } },
    [
      {
        type: 'tool_result',
        callId: 'c6',
        name: 'computer',
        output: { content: [{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }] },
        isError: false,
      },
    ],
  ],
  web_search_call: [
    { id: 'w1', status: 'completed', action: { type: 'search', query: 'sky' } },
    [
      {
        type: 'tool_use',
        callId: 'w1',
        name: 'web_search',
        input: { action: { type: 'search', query: 'sky' } },
        providerExecuted: true,
      },
      { type: 'tool_result', callId: 'w1', name: 'web_search', output: 'completed', isError: false },
    ],
  ],
  file_search_call: [
    { id: 'f1', status: 'completed', queries: ['sky'], results: [{ text: 'blue' }] },
    [
      {
        type: 'tool_use',
        callId: 'f1',
        name: 'file_search',
        input: { queries: ['sky'] },
        providerExecuted: true,
      },
      { type: 'tool_result', callId: 'f1', name: 'file_search', output: [{ text: 'blue' }], isError: false },
    ],
  ],
  code_interpreter_call: [
    { id: 'i1', status: 'completed', code: '1+1', container_id: 'x', outputs: [{ type: 'logs', logs: '2' }] },
    [
      {
        type: 'tool_use',
        callId: 'i1',
        name: 'code_interpreter',
        input: { code: '1+1', container_id: 'x' },
        providerExecuted: true,
      },
      {
        type: 'tool_result',
        callId: 'i1',
        name: 'code_interpreter',
        output: [{ type: 'logs', logs: '2' }],
        isError: false,
      },
    ],
  ],
  program: [
    { id: 'p1', call_id: 'c7', code: '1+1', fingerprint: 'x' },
    [
      {
        type: 'tool_use',
        callId: 'c7',
        name: 'program',
        input: { code: '1+1', fingerprint: 'x' },
        providerExecuted: true,
      },
    ],
  ],
  program_output: [
    { id: 'p2', call_id: 'c7', result: '2', status: 'completed' },
    [{ type: 'tool_result', callId: 'c7', name: 'program', output: '2', isError: false }],
  ],
  image_generation_call: [
    { id: 'g1', status: 'completed', result: 'iVBORw0KGgo=', output_format: 'webp' },
    [{ type: 'image', mediaType: 'image/webp', data: 'iVBORw0KGgo=' }],
  ],
  mcp_call: [
    { id: 'm1', name: 'fetch', arguments: '{}', server_label: 'x', output: 'page' },
    [
      { type: 'tool_use', callId: 'm1', name: 'fetch', input: {} },
      { type: 'tool_result', callId: 'm1', name: 'fetch', output: 'page', isError: false },
    ],
  ],
  compaction: [
    { id: 'k1', encrypted_content: 'opaque' },
    [{ type: 'text', text: '[Earlier messages were compacted by another server, and cannot be read here]' }],
  ],
  mcp_approval_request: [{ id: 'r1', name: 'pay', arguments: '{}', server_label: 'x' }, []],
  mcp_approval_response: [{ approval_request_id: 'r1', approve: true }, []],
  mcp_list_tools: [{ id: 't1', server_label: 'x', tools: [] }, []],
  reasoning: [{ id: 's1', summary: [], encrypted_content: 'opaque' }, []],
  item_reference: [{ id: 'msg_elsewhere' }, []],
  tool_search_call: [{ arguments: {} }, []],
  tool_search_output: [{ tools: [] }, []],
  additional_tools: [{ role: 'developer', tools: [] }, []],
  configuration_update: [{ reasoning: { effort: 'low' } }, []],
  compaction_trigger: [{}, []],
};

describe('an input of responses', () => {
  for (const [type, [fields, blocks]] of Object.entries(ITEMS))
    it(`takes ${type} of a conversation that began elsewhere`, async () => {
      const gateway = await startResponses({ app: knowing() });
      const answered = await gateway.post({
        input: [
          { type, ...fields },
          { role: 'user', content: 'last' },
        ],
      });
      const { error, output } = (await answered.json()) as any;
      if (type === 'item_reference') {
        // What nobody here has said cannot be left out in silence.
        expect(error).to.include({ param: 'input[0].id' });
        return;
      }
      expect(error).to.equal(null);
      const said = JSON.parse(output[0].content[0].text).flatMap(([, content]: any) => content);
      expect(said).to.deep.equal([...blocks, { type: 'text', text: 'last' }]);
    });

  it('has the results of calls under their names, as one answer and its results', async () => {
    const gateway = await startResponses({ app: knowing() });
    const answered = await gateway.post({
      input: [
        { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' },
        { type: 'shell_call', call_id: 'b', action: { commands: [] } },
        { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
        { type: 'shell_call_output', call_id: 'b', output: [] },
      ],
    });
    const { output } = (await answered.json()) as any;
    const said = JSON.parse(output[0].content[0].text);
    expect(said.map(([role, content]: any) => [role, content.map(({ name }: any) => name)])).to.deep.equal([
      ['assistant', ['patch', 'shell']],
      ['tool', ['patch', 'shell']],
    ]);
  });

  it('is refused with an item that nobody knows, by its place', async () => {
    const gateway = await startResponses({ app: knowing() });
    const refused = await gateway.post({ input: [{ type: 'of_tomorrow', id: 'x' }] });
    expect(refused.status).to.equal(400);
    expect(((await refused.json()) as any).error.param).to.equal('input[0].type');
  });
});

for (const major of MAJORS)
  describe(`pictures in outputs of functions, for openai ${major.major}`, () => {
    const tools = [{ type: 'function' as const, name: 'shot', parameters: null, strict: false }];
    const output = [
      { type: 'input_text' as const, text: 'the screen' },
      { type: 'input_image' as const, image_url: PICTURE, detail: 'auto' as const },
      { type: 'input_file' as const, filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' },
    ];
    const blocks = [
      { type: 'text', text: 'the screen' },
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'file', mediaType: 'text/plain', data: 'aGk=', name: 'a.txt' },
    ];
    const asking = defineApp({
      async *run(turn: any) {
        yield JSON.stringify(await turn.callTool('shot', {}));
      },
    });

    it('reach the run that asked, and are told again as they came', async () => {
      const gateway = await startResponses({ app: asking });
      const client = gateway.client(major);
      const first = await client.responses.create({ model: 'default', input: 'x', tools });
      const { call_id } = plain(first.output[0]);
      const answer = { type: 'function_call_output' as const, call_id, output };
      const next = await client.responses.create({
        model: 'default',
        previous_response_id: first.id,
        input: [answer],
        tools,
      });
      expect(JSON.parse(next.output_text)).to.deep.equal({ content: blocks });
      const { data } = await client.responses.inputItems.list(next.id);
      expect(plain(data[0]).output).to.deep.equal(output);
      const { messages } = await gateway.gateway
        .session(first.id.slice('resp_'.length).split('~')[0]!, { user: { id: 'alice' } })
        .history();
      expect(messages[1]!.content[1]).to.deep.include({ type: 'tool_result', output: { content: blocks } });
    });

    it('are seen by a model of chat completions, whose results of tools are text', async () => {
      const endpoint = await ChatEndpoint.start();
      const gateway = await startResponses({ app: openaiApp({ baseURL: endpoint.url, model: 'tiny' }) });
      const client = gateway.client(major);
      const asked = client.responses.create({ model: 'default', input: 'x', tools });
      (await endpoint.next()).call('c1', 'shot', {}).finish('tool_calls');
      const { id, output: calls } = await asked;
      const { call_id } = plain(calls.at(-1));
      const answer = { type: 'function_call_output' as const, call_id, output };
      const next = client.responses.create({
        model: 'default',
        previous_response_id: id,
        input: [answer],
        tools,
      });
      const request = await endpoint.next();
      request.say('Seen');
      expect(request.body.messages.slice(-2)).to.deep.equal([
        { role: 'tool', tool_call_id: 'c1', content: 'the screen' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PICTURE } },
            { type: 'file', file: { file_data: 'data:text/plain;base64,aGk=', filename: 'a.txt' } },
          ],
        },
      ]);
      expect((await next).output_text).to.equal('Seen');
    });

    it('are refused where they only name a file, for an output cannot keep one', async () => {
      const gateway = await startResponses({ app: knowing() });
      const refused = await gateway
        .client(major)
        .responses.create({
          model: 'default',
          input: [
            { type: 'function_call', call_id: 'a', name: 'shot', arguments: '{}' },
            {
              type: 'function_call_output',
              call_id: 'a',
              output: [{ type: 'input_image', file_id: 'file_1', detail: 'auto' }],
            },
          ],
        })
        .catch((error) => error);
      expect([refused.status, refused.param]).to.deep.equal([400, 'input[1].output[0].file_id']);
    });
  });
