import { expect } from 'chai';
import OpenAI from 'openai';
import { defineApp, GatewayError } from '../../../server/index.js';
import { failure } from '../../support/client.js';
import { dataOf, recalling, runs, says, startChat } from './fixtures.js';
import { expectShape } from './schemas.js';

const counting = runs(async function* (turn) {
  yield { type: 'reasoning_delta', delta: 'Let me see. ' };
  yield 'One ';
  yield 'two';
  turn.usage({ inputTokens: 5, outputTokens: 7, cachedInputTokens: 2 });
});

/** A gateway whose app says nothing, and what that is told. */
async function listening() {
  const seen: any[] = [];
  const app = defineApp({
    async run(turn) {
      seen.push(...turn.history, turn.message);
    },
  });
  return { seen, ...(await startChat({ app })) };
}

describe('chat completions with the openai client', () => {
  it('answer at once', async () => {
    const { client } = await startChat({ app: counting });
    const { data, response } = await client().chat.completions.create(says('Count')).withResponse();
    const { choices, usage, model } = expectShape('completion', data);
    expect(choices[0]).to.deep.equal({
      index: 0,
      message: {
        role: 'assistant',
        content: 'One two',
        refusal: null,
        annotations: [],
        reasoning_content: 'Let me see. ',
      },
      logprobs: null,
      finish_reason: 'stop',
    });
    expect(model).to.equal('default');
    expect(usage).to.deep.equal({
      prompt_tokens: 5,
      completion_tokens: 7,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 2 },
    });
    expect(response.headers.get('x-session-id')).to.match(/^chat-/);
  });

  it('stream, with the helper’s final message like the whole one', async () => {
    const { client } = await startChat({ app: counting });
    const stream = client().chat.completions.stream(says('Count', { stream: true }));
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    const { choices } = await stream.finalChatCompletion();
    expect(deltas.filter((delta) => delta !== '').join('')).to.equal('One two');
    expect(choices[0]!.message.content).to.equal('One two');
    expect(choices[0]!.finish_reason).to.equal('stop');
  });

  it('stream chunks that are the vendor’s: role first, one end, usage only when asked, [DONE]', async () => {
    const { ask } = await startChat({ app: counting });
    // OpenRouter's clients ask by a field of their own.
    for (const options of [{}, { stream_options: { include_usage: true } }, { usage: { include: true } }]) {
      const asked = Object.keys(options).length > 0;
      const response = await ask(says('Count', { stream: true, ...options }), {
        headers: { accept: 'application/json', 'accept-encoding': 'gzip' },
      });
      expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(response.headers.get('content-encoding')).to.equal(null);
      const data = await dataOf(response);
      expect(data.pop()).to.equal('[DONE]');
      const chunks = data.map((text) => expectShape('chunk', JSON.parse(text)));
      expect(new Set(chunks.map(({ id }) => id)).size).to.equal(1);
      expect(new Set(chunks.map(({ created }) => created)).size).to.equal(1);
      expect(chunks[0].choices[0].delta).to.deep.equal({ role: 'assistant', content: '', refusal: null });
      const last = asked ? chunks.pop() : null;
      expect(last?.choices).to.deep.equal(asked ? [] : undefined);
      expect(last?.usage.total_tokens).to.equal(asked ? 12 : undefined);
      expect(chunks.map((chunk) => chunk.usage)).to.deep.equal(chunks.map(() => (asked ? null : undefined)));
      const ends = chunks.map(({ choices }) => choices[0].finish_reason);
      expect(ends.pop()).to.equal('stop');
      expect(ends.every((end) => end === null)).to.equal(true);
      const reasoning = chunks.map(({ choices }) => choices[0].delta.reasoning_content ?? '').join('');
      expect(reasoning).to.equal('Let me see. ');
    }
  });

  it('have an id of their own each', async () => {
    const { client } = await startChat({ app: counting });
    const ids = await Promise.all(
      ['a', 'b', 'c'].map(async (text) => (await client().chat.completions.create(says(text))).id),
    );
    expect(new Set(ids).size).to.equal(3);
  });

  it('count words where the app counts nothing, and say so', async () => {
    const { client } = await startChat({ app: recalling });
    const { usage } = await client().chat.completions.create(says('one two three'));
    expect(usage).to.deep.equal({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6, estimated: true });
  });

  it('count the same words however they are cut into pieces', async () => {
    const app = runs(async function* () {
      for (const piece of ['exam', 'ple', ' of', ' ', 'wor', 'ds. ', 'End']) yield piece;
    });
    const { client } = await startChat({ app });
    const whole = await client().chat.completions.create(says('Go'));
    expect(whole.usage!.completion_tokens).to.equal(4);
    const stream = client().chat.completions.stream({
      ...says('Go'),
      stream: true,
      stream_options: { include_usage: true },
    });
    expect((await stream.finalChatCompletion()).usage!.completion_tokens).to.equal(4);
  });

  it('end as `length` where the app was cut', async () => {
    const { client } = await startChat({
      app: runs(async () => ({ text: 'Cut', stopReason: 'max_tokens' as const })),
    });
    const { choices } = await client().chat.completions.create(says('Go'));
    expect(choices[0]!.finish_reason).to.equal('length');
  });

  it('list the apps and the names of the mapping as models', async () => {
    const { client, baseURL } = await startChat(
      { apps: { one: recalling, two: counting }, defaultApp: 'one' },
      { modelMapping: { 'vendor/large 1': 'two' } },
    );
    const list = await client().models.list();
    expect(list.data.map(({ id }) => id)).to.deep.equal(['vendor/large 1', 'one', 'two']);
    const headers = { authorization: 'Bearer alice' };
    expectShape('models', await (await fetch(`${baseURL}/models`, { headers })).json());
    expectShape('model', await client().models.retrieve('vendor/large 1'));
    const { choices, model } = await client().chat.completions.create(
      says('Hi', { model: 'vendor/large 1' }),
    );
    expect([choices[0]!.message.content, model]).to.deep.equal(['One two', 'vendor/large 1']);
    const missing = await failure(client().models.retrieve('three'));
    expect(missing).to.be.instanceOf(OpenAI.NotFoundError);
    expect(missing.code).to.equal('model_not_found');
    for (const inherited of ['__proto__', 'constructor', 'toString'])
      expect(await failure(client().models.retrieve(inherited))).to.be.instanceOf(OpenAI.NotFoundError);
  });

  it('live below the prefix that was asked for', async () => {
    const { client, url } = await startChat({ app: recalling }, { pathPrefix: '/openai/api' });
    expect((await client().chat.completions.create(says('Hi'))).choices[0]!.message.content).to.equal(
      'user:Hi',
    );
    expect((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer alice' } })).status).to.equal(
      404,
    );
  });

  it('refuse options that can’t work', async () => {
    for (const options of [{ pathPrefix: 'v1' }, { toolWaitMs: 0 }, { modelMapping: { large: 'nobody' } }])
      expect(await failure(startChat({ app: recalling }, options as never))).to.be.instanceOf(GatewayError);
  });

  it('give the app the parameters by their names on the wire, and unknown ones too', async () => {
    const parameters: unknown[] = [];
    const app = runs(async (turn) => {
      parameters.push(turn.parameters, turn.clientTools, turn.user?.id);
    });
    const { client } = await startChat({ app });
    const given = {
      stop: ['END'],
      max_tokens: 10,
      max_completion_tokens: 12,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      response_format: { type: 'json_object' as const },
      user: 'mallory',
      metadata: { a: 'b' },
      tool_choice: 'auto' as const,
      reasoning_effort: 'low' as const,
      top_k: 4,
    };
    await client().chat.completions.create({ ...says('Hi'), ...given, logit_bias: null, n: 1 });
    expect(parameters).to.deep.equal([given, [], 'alice']);
    // As clients of local models write it.
    await client().chat.completions.create({ ...says('Hi'), max_tokens: -1, max_completion_tokens: -1 });
    expect(parameters[3]).to.deep.equal({});
  });

  it('go on with what was called elsewhere: functions, and custom tools, whose input is text', async () => {
    const { client, seen } = await listening();
    await client().chat.completions.create({
      model: 'default',
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{"n":1}' } },
            { id: 'b', type: 'custom', custom: { name: 'patch', input: '5' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'seen' },
        { role: 'tool', tool_call_id: 'b', content: 'patched' },
        { role: 'user', content: 'On' },
      ],
    });
    const called = seen[1].content.map(({ name, input }: any) => [name, input]);
    expect(called).to.deep.equal([
      ['look', { n: 1 }],
      ['patch', '5'],
    ]);
    expect(seen.flatMap(({ content }) => content)).to.deep.include({
      type: 'tool_result',
      callId: 'b',
      name: 'patch',
      output: 'patched',
      isError: false,
    });
  });

  it('give the app system messages, images, sound and files as content', async () => {
    const { client, seen } = await listening();
    await client().chat.completions.create({
      model: 'default',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'developer', content: [{ type: 'text', text: 'And kind' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is ' },
            { type: 'text', text: 'this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } },
            { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' } },
          ],
        },
      ],
    });
    expect(seen.map(({ role, content }) => ({ role, content }))).to.deep.equal([
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
      { role: 'system', content: [{ type: 'text', text: 'And kind' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is ' },
          { type: 'text', text: 'this?' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'image', mediaType: 'image/*', url: 'https://pictures.test/a.png' },
          { type: 'audio', mediaType: 'audio/mpeg', data: 'BBBB' },
          { type: 'file', mediaType: 'application/pdf', data: 'CCCC', name: 'a.pdf' },
        ],
      },
    ]);
  });
});
