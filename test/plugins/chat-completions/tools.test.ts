import { expect } from 'chai';
import type { Turn } from '../../../server/index.js';
import { tool } from '../../../server/index.js';
import { connectClient, failure, takeUntil } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { alone, get } from '../../support/gateway.js';
import { as } from '../../support/users.js';
import { dataOf, runs, says, startChat, tools } from './fixtures.js';
import { expectShape } from './schemas.js';

/** Calls a tool of the caller's, which the types of the app do not know. */
const call = (turn: Turn, name: string, input: unknown): Promise<any> =>
  turn.callTool(name as never, input as never);

const weather = runs(async function* (turn) {
  yield 'Let me look. ';
  const [here, there] = await Promise.all([
    call(turn, 'weather', { city: 'Paris' }),
    call(turn, 'weather', { city: 'Rome' }),
  ]);
  yield `Paris: ${here}, Rome: ${there}`;
  turn.usage({ inputTokens: 1, outputTokens: 2 });
});

/** Yields the call and ends, as an app does that passes on what a model says; a result begins the next run. */
const handing = runs(async function* (turn) {
  const results = turn.message.content.filter((block) => block.type === 'tool_result');
  if (results.length > 0) {
    yield `${turn.history.length} before; ${results.map(({ name, output }) => `${name}=${output}`).join()}`;
    return;
  }
  yield { type: 'tool_use', callId: 'call_0', name: 'weather', input: { city: 'Paris' } };
  yield { type: 'tool_use', callId: 'call_1', name: 'time', input: 'raw' };
  return { stopReason: 'tool_use' as const };
});

const conversation = (...more: object[]) => [{ role: 'user', content: 'Weather?' }, ...more];
const result = (id: string, content: unknown = 'sunny') => ({ role: 'tool', tool_call_id: id, content });

const sessionsOf = async (url: string, user: string): Promise<string[]> =>
  (await get(`${url}/sessions`, as(user))).body.sessions.map((session: any) => session.sessionId);

describe('tools of a completion’s caller', () => {
  for (const stream of [false, true]) {
    it(`are run by the openai client’s own loop, ${stream ? 'streaming' : 'at once'}`, async () => {
      const { client, url } = await startChat({ app: weather });
      const asked: string[] = [];
      const runner = client().chat.completions.runTools({
        ...says('Weather?'),
        stream: stream as false,
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description: 'Tells the weather',
              parse: JSON.parse,
              parameters: { type: 'object', properties: { city: { type: 'string' } } },
              function: ({ city }: { city: string }) => {
                asked.push(city);
                return `fine in ${city}`;
              },
            },
          },
        ],
      });
      expect(await runner.finalContent()).to.equal('Paris: fine in Paris, Rome: fine in Rome');
      expect(asked).to.have.members(['Paris', 'Rome']);
      // Both calls came in one answer.
      expect(runner.messages.map(({ role }) => role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'tool',
        'assistant',
      ]);
      expect(await sessionsOf(url, 'alice')).to.deep.equal([]);
    });
  }

  it('end an answer, whole and in chunks, and its run goes on with the results', async () => {
    const started: string[] = [];
    const { ask, gateway } = await startChat({ app: weather });
    gateway.on('run:started', ({ runId }) => void started.push(runId));
    const body = { model: 'default', tools: tools('weather') };
    const first = expectShape('completion', await (await ask({ ...body, messages: conversation() })).json());
    expect(first.choices[0].finish_reason).to.equal('tool_calls');
    const { message } = first.choices[0];
    expect(message.content).to.equal('Let me look. ');
    expect(message.tool_calls.map((called: any) => called.function)).to.deep.equal([
      { name: 'weather', arguments: '{"city":"Paris"}' },
      { name: 'weather', arguments: '{"city":"Rome"}' },
    ]);
    const [a, b] = message.tool_calls.map(({ id }: any) => id);
    const messages = conversation(message, result(b, 'wet'), result(a, [{ type: 'text', text: 'dry' }]));
    const second = await ask({ ...body, stream: true, stream_options: { include_usage: true }, messages });
    const chunks = (await dataOf(second)).slice(0, -1).map((text) => expectShape('chunk', JSON.parse(text)));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).to.equal(
      'Paris: dry, Rome: wet',
    );
    expect(chunks.at(-2).choices[0].finish_reason).to.equal('stop');
    expect(chunks.at(-1).usage).to.deep.equal({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
    expect(started.length).to.equal(1);
  });

  it('are streamed as whole calls with their places', async () => {
    const { ask } = await startChat({ app: weather });
    const response = await ask({ ...says('Weather?', { stream: true }), tools: tools('weather') });
    const data = await dataOf(response);
    expect(data.pop()).to.equal('[DONE]');
    const chunks = data.map((text) => expectShape('chunk', JSON.parse(text)));
    const calls = chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
    expect(calls.map(({ index }) => index)).to.deep.equal([0, 1]);
    expect(chunks.map(({ choices }) => choices[0].finish_reason).filter(Boolean)).to.deep.equal([
      'tool_calls',
    ]);
  });

  it('tell what the app said meanwhile in the next answer', async () => {
    const answered = gate();
    const app = runs(async function* (turn) {
      const answer = call(turn, 'slow', {});
      yield 'Before. ';
      await answered.passed;
      yield 'Meanwhile. ';
      yield `After ${await answer}.`;
    });
    const { ask } = await startChat({ app });
    const body = { model: 'default', tools: tools('slow') };
    const { choices } = (await (await ask({ ...body, messages: conversation() })).json()) as any;
    expect(choices[0].message.content).to.equal('Before. ');
    answered.open();
    const messages = conversation(choices[0].message, result(choices[0].message.tool_calls[0].id, 'it'));
    const next = (await (await ask({ ...body, messages })).json()) as any;
    expect(next.choices[0].message.content).to.equal('Meanwhile. After it.');
  });

  it('may be handed over by an app that ends its run, which goes on with the tool message', async () => {
    for (const headers of [{}, { 'x-session-id': 'kept' }]) {
      const { ask } = await startChat({ app: handing });
      const body = { model: 'default', tools: tools('weather', 'time') };
      const first = expectShape(
        'completion',
        await (await ask({ ...body, messages: conversation() }, { headers })).json(),
      );
      const { message, finish_reason } = first.choices[0];
      expect(finish_reason).to.equal('tool_calls');
      expect(message).to.deep.include({ content: null });
      expect(
        message.tool_calls.map(({ id, function: { arguments: given } }: any) => [id, given]),
      ).to.deep.equal([
        ['call_0', '{"city":"Paris"}'],
        ['call_1', 'raw'],
      ]);
      const messages = conversation(message, result('call_0', 'dry'), result('call_1', 'noon'));
      const { choices } = (await (await ask({ ...body, messages }, { headers })).json()) as any;
      expect(choices[0].message.content).to.equal('2 before; weather=dry,time=noon');
    }
  });

  it('are not the app’s own: those it runs itself, and those nobody offered are not told', async () => {
    const app = {
      tools: { weather: tool({ handler: async () => 'own' }) },
      run: async function* (turn: Turn) {
        yield String(await call(turn, 'weather', {}));
        yield { type: 'tool_use' as const, callId: 'x', name: 'unheard', input: {} };
        return { stopReason: 'tool_use' as const };
      },
    };
    const { client } = await startChat({ app });
    for (const offered of [undefined, tools('weather')]) {
      const { choices } = await client().chat.completions.create(
        says('Go', offered ? { tools: offered } : {}),
      );
      expect(choices[0]).to.deep.include({ finish_reason: 'stop' });
      expect(choices[0]!.message).to.deep.include({ content: 'own' }).and.not.have.property('tool_calls');
    }
  });

  it('are hidden by tool_choice none, narrowed by allowed_tools, and a named one has to be there', async () => {
    const seen: unknown[] = [];
    const app = runs(async (turn) => {
      seen.push(
        turn.clientTools.map(({ name }) => name),
        turn.parameters.tool_choice,
      );
    });
    const { client } = await startChat({ app });
    const create = (tool_choice: any) =>
      client().chat.completions.create({ ...says('Go'), tools: tools('a', 'b'), tool_choice });
    await create('none');
    await create('required');
    const named = { type: 'function', function: { name: 'b' } };
    await create(named);
    expect(seen).to.deep.equal([[], 'none', ['a', 'b'], 'required', ['a', 'b'], named]);
    const allowed = (mode: string, ...names: string[]) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: tools(...names) },
    });
    await create(allowed('required', 'b'));
    await create(allowed('auto', 'b', 'a'));
    expect(seen.slice(6)).to.deep.equal([['b'], 'required', ['a', 'b'], 'auto']);
    for (const choice of [{ type: 'function', function: { name: 'c' } }, allowed('auto', 'a', 'c')]) {
      expect(await failure(create(choice))).to.include({ status: 400, param: 'tool_choice' });
    }
  });

  it('are told with their descriptions and schemas', async () => {
    let offered: unknown;
    const app = runs(async (turn) => {
      offered = turn.clientTools;
    });
    const { client } = await startChat({ app });
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const described = { name: 'weather', description: 'Tells it', parameters };
    await client().chat.completions.create({
      ...says('Go'),
      tools: [
        { type: 'function', function: { ...described, strict: true } },
        { type: 'function', function: { name: 'bare' } },
      ],
    });
    expect(offered).to.deep.equal([{ ...described, strict: true }, { name: 'bare' }]);
  });

  for (const stream of [false, true])
    it(`may take text: ${stream ? 'streamed' : 'whole'}, called by an app that waits, and by one that ends`, async () => {
      const seen: unknown[] = [];
      const app = runs(async function* (turn) {
        seen.push(turn.clientTools, turn.parameters.tool_choice);
        if (turn.message.role === 'tool') return void (yield JSON.stringify(turn.message.content));
        if (turn.text === 'leave') {
          yield { type: 'tool_use', callId: 'c1', name: 'patch', input: { input: '*** "5"' } };
          return { stopReason: 'tool_use' as const };
        }
        yield `got ${await call(turn, 'patch', '*** "5"')}`;
        return undefined;
      });
      const { client } = await startChat({ app });
      const custom = { type: 'custom' as const, custom: { name: 'patch', description: 'Patches' } };
      const body = {
        model: 'default',
        tools: [...tools('a'), custom],
        tool_choice: { type: 'custom', custom: { name: 'patch' } } as const,
      };
      const ask = async (messages: any[]): Promise<any> => {
        if (!stream)
          return (await client().chat.completions.create({ ...body, messages })).choices[0]!.message;
        const message: any = { role: 'assistant', content: '', tool_calls: [] };
        for await (const { choices } of await client().chat.completions.create({
          ...body,
          messages,
          stream: true,
        })) {
          const { content, tool_calls } = choices[0]!.delta;
          message.content += content ?? '';
          for (const { index: _, ...called } of tool_calls ?? []) message.tool_calls.push(called);
        }
        return message;
      };
      const one = await ask(conversation());
      expect(one.tool_calls).to.deep.equal([
        { id: one.tool_calls[0].id, type: 'custom', custom: { name: 'patch', input: '*** "5"' } },
      ]);
      const TEXT = {
        type: 'object',
        properties: { input: { type: 'string' } },
        required: ['input'],
        additionalProperties: false,
      };
      expect(seen[0]).to.deep.include({ name: 'patch', description: 'Patches', parameters: TEXT });
      expect(seen[1]).to.deep.equal({ type: 'function', function: { name: 'patch' } });
      const two = await ask(conversation(one, result(one.tool_calls[0].id, 'patched')));
      expect(two.content).to.equal('got patched');
      const asked = { role: 'user', content: 'leave' };
      const left = await ask([asked]);
      expect(left.tool_calls).to.deep.equal([
        { id: 'c1', type: 'custom', custom: { name: 'patch', input: '*** "5"' } },
      ]);
      const last = await ask([asked, left, result('c1', 'done')]);
      expect(JSON.parse(last.content)[0]).to.include({ callId: 'c1', name: 'patch', output: 'done' });
    });

  it('need a result each: a missing one is named, and the run waits on', async () => {
    const { ask } = await startChat({ app: weather });
    const body = { model: 'default', tools: tools('weather') };
    const { choices } = (await (await ask({ ...body, messages: conversation() })).json()) as any;
    const { message } = choices[0];
    const [a, b] = message.tool_calls.map(({ id }: any) => id);
    const refused = await ask({ ...body, messages: conversation(message, result(a)) });
    expect(refused.status).to.equal(400);
    const { error } = expectShape('error', await refused.json());
    expect(error).to.include({ param: 'messages' });
    expect(error.message).to.contain(b).and.not.contain(a);
    const messages = conversation(message, result(a, '1'), result(b, '2'));
    const last = (await (await ask({ ...body, messages })).json()) as any;
    expect(last.choices[0].message.content).to.equal('Paris: 1, Rome: 2');
  });

  it('answer only to the user whose run it is', async () => {
    const contents: string[] = [];
    const app = runs(async function* (turn) {
      if (turn.message.role === 'tool') {
        contents.push(JSON.stringify(turn.message.content));
        yield 'from the start';
      } else yield `got ${await call(turn, 'weather', {})}`;
    });
    const { ask } = await startChat({ app });
    const body = { model: 'default', tools: tools('weather') };
    const { choices } = (await (await ask({ ...body, messages: conversation() })).json()) as any;
    const { message } = choices[0];
    const messages = conversation(message, result(message.tool_calls[0].id, 'forged'));
    const foreign = (await (await ask({ ...body, messages }, { user: 'bob' })).json()) as any;
    expect(foreign.choices[0].message.content).to.equal('from the start');
    expect(contents[0]).to.contain('forged').and.contain('weather');
    const own = conversation(message, result(message.tool_calls[0].id, 'true'));
    const { choices: last } = (await (await ask({ ...body, messages: own })).json()) as any;
    expect(last[0].message.content).to.equal('got true');
  });

  it('answer only in their session and to their model', async () => {
    const app = runs(async function* (turn) {
      yield turn.message.role === 'tool' ? 'anew' : `got ${await call(turn, 'weather', {})}`;
    });
    const { ask } = await startChat({ apps: { one: app, two: app }, defaultApp: 'one' });
    const body = { tools: tools('weather') };
    const first = await ask({ ...body, model: 'one', messages: conversation() });
    const { message } = ((await first.json()) as any).choices[0];
    const messages = conversation(message, result(message.tool_calls[0].id, 'it'));
    const answers = [];
    for (const [model, headers] of [
      ['two', {}],
      ['one', { 'x-session-id': 'other' }],
      ['one', {}],
    ] as const) {
      const { choices } = (await (await ask({ ...body, model, messages }, { headers })).json()) as any;
      answers.push(choices[0].message.content);
    }
    expect(answers).to.deep.equal(['anew', 'anew', 'got it']);
  });

  it('are not waited for longer than asked: the run is aborted and its session dropped', async () => {
    const aborted = gate();
    const app = runs(async function* (turn) {
      turn.signal.addEventListener('abort', () => aborted.open());
      yield String(await call(turn, 'weather', {}));
    });
    const { client, gateway, url } = await startChat({ app }, { toolWaitMs: 20 });
    const closed = gate();
    gateway.on('session:closed', () => closed.open());
    await client().chat.completions.create(says('Go', { tools: tools('weather') }));
    await aborted.passed;
    await closed.passed;
    expect(await sessionsOf(url, 'alice')).to.deep.equal([]);
  });

  it('are waited for by a bounded number of runs, the oldest given up first', async () => {
    let given = 0;
    const first = gate();
    const app = runs(async function* (turn) {
      turn.signal.addEventListener('abort', () => {
        given += 1;
        first.open();
      });
      yield String(await call(turn, 'weather', {}));
    });
    const { client } = await startChat({ app, limits: { sendsPerSecond: 1000 }, ...alone() });
    for (let n = 0; n < 100; n++)
      await client().chat.completions.create(says('Go', { tools: tools('weather') }));
    expect(given).to.equal(0);
    await client().chat.completions.create(says('Go', { tools: tools('weather') }));
    await first.passed;
    expect(given).to.equal(1);
  });

  it('that nobody answers do not hold up the gateway’s end', async () => {
    const app = runs(async function* (turn) {
      yield String(await call(turn, 'weather', {}));
    });
    const { client, gateway } = await startChat({ app, ...alone() });
    const ends: string[] = [];
    gateway.on('run:ended', ({ stopReason }) => void ends.push(stopReason));
    await client().chat.completions.create(says('Go', { tools: tools('weather') }));
    await gateway.close();
    // After the time that runs are given it would be `lost`.
    expect(ends).to.deep.equal(['aborted']);
  });

  it('of a kept session are given up when its caller goes on without them', async () => {
    let aborted = 0;
    const app = runs(async function* (turn) {
      turn.signal.addEventListener('abort', () => {
        aborted += 1;
      });
      if (turn.text === 'Weather?') yield String(await call(turn, 'weather', {}));
      else yield `said ${turn.text} after ${turn.history.length}`;
    });
    const { ask } = await startChat({ app });
    const headers = { 'x-session-id': 'kept' };
    const body = { model: 'default', tools: tools('weather') };
    const first = (await (await ask({ ...body, messages: conversation() }, { headers })).json()) as any;
    const messages = conversation({ role: 'user', content: 'Never mind' });
    messages.splice(1, 0, first.choices[0].message);
    const second = (await (await ask({ ...body, messages }, { headers })).json()) as any;
    expect(second.choices[0].message.content).to.equal('said Never mind after 2');
    expect(aborted).to.equal(1);
  });
});

describe('questions of a run behind a completion', () => {
  const asking = {
    tools: { remove: tool({ confirm: true, handler: async () => 'removed' }) },
    run: async function* (turn: Turn) {
      try {
        yield turn.text === 'ask'
          ? String(await turn.ask({ name: 'day' }))
          : String(await call(turn, 'remove', { file: 'a' }));
      } catch (error) {
        yield (error as Error).message;
      }
    },
  };

  it('are declined at once where nobody could follow the session', async () => {
    const { client } = await startChat({ app: asking });
    for (const text of ['ask', 'remove']) {
      const { choices } = await client().chat.completions.create(says(text));
      expect(choices[0]!.message.content).to.match(/^(?:Denied|Declined): .*x-session-id/);
    }
  });

  it('wait in a session of the caller’s own for whoever follows it', async () => {
    const { client, url } = await startChat({ app: asking });
    const person = connectClient(url, { token: 'alice' });
    const events = person.events('kept', { from: 'now' })[Symbol.asyncIterator]();
    const answer = client().chat.completions.create(says('remove'), { headers: { 'x-session-id': 'kept' } });
    const seen = await takeUntil(events, ({ type }) => type === 'tool_confirmation_required');
    await person.session('kept').approve((seen.at(-1) as any).callId);
    expect((await answer).choices[0]!.message.content).to.equal('removed');
  });
});
