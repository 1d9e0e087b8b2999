import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { responsesPlugin } from '../../../server/plugins/responses/index.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';
import { ENGINES } from '../../support/stores.js';
import { until } from '../../support/until.js';
import { byName } from '../../support/users.js';
import { actor, STORES } from '../actor.js';
import { brought, framesIn, framesOf, startResponses, withResponses } from './fixtures.js';

const idsOf = async (gateway: Awaited<ReturnType<typeof startResponses>>, user = 'alice') =>
  (await gateway.gateway.sessions({ user: { id: user } })).sessions.map(({ sessionId }) => sessionId);

for (const [store, make] of STORES) {
  describe(`responses of two users on ${store}`, () => {
    it('are nobody else’s, on every route: 404, or a session of their own', async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const mine = async (body: object) => (await (await gateway.post(body)).json()) as any;
      const first = await mine({ input: 'secret pay', conversation: 'conv_mine' });
      const { id } = first;
      const path = `/responses/${encodeURIComponent(id)}`;
      const asked = first.output.at(-1).id;
      const eve = { user: 'eve' };
      for (const [method, below] of [
        ['GET', path],
        ['GET', `${path}?stream=true`],
        ['GET', `${path}?stream=true&starting_after=3`],
        ['GET', `${path}/input_items`],
        ['POST', `${path}/cancel`],
        ['DELETE', path],
        ['GET', '/conversations/conv_mine'],
        ['GET', '/conversations/conv_mine/items'],
        ['DELETE', '/conversations/conv_mine'],
      ]) {
        const refused = await gateway.ask(below!, { method: method!, ...eve });
        expect([refused.status, below]).to.deep.equal([404, below]);
        expect((await refused.json()).error.code).to.equal('not_found');
      }
      const chained = await gateway.post({ input: 'x', previous_response_id: id }, eve);
      expect([chained.status, (await chained.json()).error.code]).to.deep.equal([
        400,
        'previous_response_not_found',
      ]);
      const approval = { type: 'mcp_approval_response', approval_request_id: asked, approve: true };
      for (const more of [{}, { previous_response_id: id }, { conversation: 'conv_mine' }]) {
        const answered = await gateway.post({ input: [approval], ...more }, eve);
        expect(answered.status).to.be.oneOf([400, 404]);
      }
      const named = first.output.find(({ type }: any) => type === 'message').id;
      const referring = await gateway.post(
        {
          input: [
            { type: 'item_reference', id: named },
            { role: 'user', content: 'x' },
          ],
        },
        eve,
      );
      expect(referring.status).to.equal(404);
      const own = await (await gateway.post({ input: 'mine', conversation: 'conv_mine' }, eve)).json();
      expect(own.output[0].content[0].text).to.equal('mine ');
      expect(effects).to.deep.equal([]);
      expect((await mine({ input: [approval] })).output.map(({ type }: any) => type)).to.deep.equal([
        'mcp_call',
        'message',
      ]);
      expect(effects).to.deep.equal(['pay']);
      const created = await (
        await gateway.ask('/conversations', {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).json();
      expect((await gateway.ask(`/conversations/${created.id}`)).status).to.equal(200);
      expect((await gateway.ask(`/conversations/${created.id}`, eve)).status).to.equal(404);
    });

    it('that are not stored are dropped with their end, or with their reader, and cannot be named', async () => {
      const began = gate();
      const { app } = actor();
      const held = defineApp({
        async *run(turn: any) {
          if (turn.text !== 'hold') return yield* app.run(turn) as any;
          began.open();
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        },
        tools: (app as any).tools,
      } as any);
      const gateway = await startResponses({ app: held, store: make() });
      let closed = 0;
      gateway.gateway.on('session:closed', () => {
        closed += 1;
      });
      const done = await (await gateway.post({ input: 'hello', store: false })).json();
      expect(done).to.include({ status: 'completed', store: false });
      expect(await idsOf(gateway)).to.deep.equal([]);
      expect((await gateway.ask(`/responses/${encodeURIComponent(done.id)}`)).status).to.equal(404);
      const leaving = new AbortController();
      const stream = gateway.ask('/responses', {
        method: 'POST',
        body: JSON.stringify({ input: 'hold', store: false, stream: true }),
        headers: { 'content-type': 'application/json' },
        signal: leaving.signal,
      });
      await began.passed;
      leaving.abort();
      await stream.then((response) => response.text()).catch(() => {});
      await until(() => closed === 2);
      expect(await idsOf(gateway)).to.deep.equal([]);
      // Where it pauses for its caller it waits.
      const tools = [brought('where')];
      const first = await (await gateway.post({ input: 'where', store: false, tools })).json();
      expect(await idsOf(gateway)).to.have.length(1);
      expect((await gateway.ask(`/responses/${encodeURIComponent(first.id)}`)).status).to.equal(404);
      const [call] = first.output;
      const output = { type: 'function_call_output', call_id: call.call_id, output: 'here' };
      const frames = await framesOf(
        await gateway.post({
          input: [{ role: 'user', content: 'where' }, call, output],
          store: false,
          tools,
          stream: true,
        }),
      );
      expect(frames.at(-2).response.output[0].content[0].text).to.equal('[where: "here"] ');
      expect(await idsOf(gateway)).to.deep.equal([]);
    });
  });

  describe(`what responses have asked, on ${store}`, () => {
    it('has to be answered together, and before something else is said', async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const ask = async (body: object) => {
        const response = await gateway.post(body);
        return [response.status, (await response.json()) as any] as const;
      };
      const [, first] = await ask({ input: 'both end' });
      const asked = first.output.map(({ id }: any) => id);
      expect(asked).to.have.length(2);
      const approve = (id: string) => ({
        type: 'mcp_approval_response',
        approval_request_id: id,
        approve: true,
      });
      const [status, { error }] = await ask({ input: [approve(asked[0])], previous_response_id: first.id });
      expect([status, error.param]).to.deep.equal([400, 'input']);
      expect(error.message).to.contain(asked[1].split('~').at(-1));
      const [other] = await ask({ input: 'more', previous_response_id: first.id });
      expect(other).to.equal(400);
      expect(effects).to.deep.equal([]);
      const [, done] = await ask({ input: asked.map(approve), previous_response_id: first.id });
      expect(done.output.map(({ type }: any) => type)).to.deep.equal(['mcp_call', 'mcp_call', 'message']);
      expect(effects).to.deep.equal(['pay', 'pay']);
      const [, again] = await ask({ input: asked.map(approve), previous_response_id: first.id });
      expect(again).to.deep.equal(done);
    });

    it('waits for other doors where its caller has no such function', async () => {
      const gateway = await startResponses({ app: actor().app, store: make() });
      const answering = gateway.post({ input: 'a where b', conversation: 'main' });
      const session = gateway.gateway.session('main', { user: { id: 'alice' } });
      let callId = '';
      for await (const event of session.events({ from: 'earliest' })) {
        if (event.type !== 'input_required') continue;
        callId = event.callId;
        break;
      }
      await session.respond(callId, { output: 'there' });
      const { output } = await (await answering).json();
      expect(output.map(({ type }: any) => type)).to.deep.equal(['message', 'mcp_call', 'message']);
    });

    it('is not told where the app’s own tools are hidden', async () => {
      const gateway = await startResponses({ app: actor().app, store: make() }, { ownTools: 'hide' });
      const { output } = await (await gateway.post({ input: 'look on' })).json();
      expect(output.map(({ type }: any) => type)).to.deep.equal(['message']);
    });
  });
}

describe('a response whose gateway was restarted', () => {
  const asking = (resumable: boolean) =>
    defineApp({
      resumable,
      async *run(turn: any) {
        if (turn.message.role === 'tool') return void (yield `told ${turn.message.content[0].output}`);
        if (!turn.resumed) yield 'before ';
        const said = await turn.callTool('where', { n: 1 });
        yield `after ${said}`;
      },
    });
  const start = async (path: string, resumable: boolean) => {
    const started = await startDurable(path, { app: asking(resumable), auth: byName });
    started.gateway.use(responsesPlugin());
    return withResponses(started);
  };

  for (const resumable of [true, false])
    it(`has the same events, and goes on where its app can: ${resumable ? 'a resumable app' : 'another'}`, async () => {
      const path = newDatabase();
      const first = await start(path, resumable);
      const tools = [brought('where')];
      const before = await framesOf(
        await first.post({ input: 'go', tools, stream: true, metadata: { a: 'b' } }),
      );
      const second = await start(crashed(path), resumable);
      const { id, output } = before.at(-2).response;
      const streamed = `/responses/${encodeURIComponent(id)}?stream=true`;
      expect(await framesOf(await second.ask(streamed))).to.deep.equal(before);
      expect(await framesOf(await second.ask(`${streamed}&starting_after=4`))).to.deep.equal(before.slice(5));
      const result = { type: 'function_call_output', call_id: output.at(-1).call_id, output: 'here' };
      // Without anything that names the session, but for the id of the call.
      const body = resumable
        ? { input: [result], tools }
        : { input: [result], tools, previous_response_id: id };
      const next = await (await second.post(body)).json();
      expect(next.status).to.equal('completed');
      const text = next.output.map(({ content }: any) => content[0].text).join('');
      expect(text).to.equal(resumable ? 'after here' : 'told here');
    });
});

describe('a response whose events are not kept any more', () => {
  it('is told from its history, and is no place to go on behind', async () => {
    const gateway = await startResponses({ app: actor().app, limits: { retention: { events: 10 } } });
    const post = async (input: string) =>
      (await (await gateway.post({ input, conversation: 'main', metadata: { a: 'b' } })).json()) as any;
    const first = await post('think hello look bye');
    for (let n = 0; n < 5; n++) await post('one two three');
    const path = `/responses/${encodeURIComponent(first.id)}`;
    const session = gateway.gateway.session('main', { user: { id: 'alice' } });
    expect((await session.status()).first).to.be.greaterThan(20);
    const { created_at: _, completed_at: __, ...kept } = await (await gateway.ask(path)).json();
    expect(first).to.deep.include(kept);
    const frames = await framesOf(await gateway.ask(`${path}?stream=true`));
    expect(frames.at(-1)).to.equal('[DONE]');
    expect(frames.at(-2).response.output).to.deep.equal(first.output);
    const behind = await gateway.ask(`${path}?stream=true&starting_after=3`);
    expect([behind.status, (await behind.json()).error.code]).to.deep.equal([400, 'events_not_kept']);
  });
});

for (const [kind, make] of Object.entries(ENGINES))
  it(`a response can be streamed for as long as its events are kept, when its run is not known any more: ${kind}`, async () => {
    const store = make();
    const gateway = await startResponses({ app: actor().app, store });
    const ids: string[] = [];
    const told: any[] = [];
    for (const input of ['one', 'think look two', 'three']) {
      const frames = await framesOf(await gateway.post({ input, conversation: 'main', stream: true }));
      ids.push(frames[0].response.id);
      told.push(frames);
    }
    await store.expire(Date.now() + 1000);
    const [, runId] = ids[0]!.split('~');
    const run = gateway.gateway.session('main', { user: { id: 'alice' } }).run(runId!);
    expect((await run.status().catch((error) => error)).code).to.equal('RUN_NOT_FOUND');
    for (const [at, id] of ids.entries()) {
      const path = `/responses/${encodeURIComponent(id)}`;
      expect(await framesOf(await gateway.ask(`${path}?stream=true`))).to.deep.equal(told[at]);
      const rest = await framesOf(await gateway.ask(`${path}?stream=true&starting_after=2`));
      expect(rest).to.deep.equal(told[at].slice(3));
      expect(await (await gateway.ask(path)).json()).to.deep.equal(told[at].at(-2).response);
    }
    const unknown = ids[0]!.replace(/~[^~]*~0$/, '~none~0');
    expect((await gateway.ask(`/responses/${encodeURIComponent(unknown)}?stream=true`)).status).to.equal(404);
  });

describe('conversations beyond one answer', () => {
  it('let a request wait behind the run that is under way, and say so', async () => {
    const held = gate();
    const app = defineApp({
      async *run(turn: any) {
        if (turn.text === 'first') await held.passed;
        yield turn.text;
      },
    });
    const gateway = await startResponses({ app });
    const first = gateway.post({ input: 'first', conversation: 'c', stream: true });
    await (await first).body?.getReader().read();
    const second = await gateway.post({ input: 'second', conversation: 'c', background: true });
    const queued = (await second.json()) as any;
    expect(queued).to.include({ status: 'queued', background: true });
    held.open();
    const path = `/responses/${encodeURIComponent(queued.id)}?stream=true`;
    const types = (await framesOf(await gateway.ask(path))).map((frame) => frame.type);
    expect(types.slice(0, 3)).to.deep.equal(['response.created', 'response.queued', 'response.in_progress']);
  });

  it('are stopped by their route, which an open stream is told, and not by leaving', async () => {
    const held = gate();
    const app = defineApp({
      async *run(turn: any) {
        yield 'a ';
        await Promise.race([
          held.passed,
          new Promise((resolve) => turn.signal.addEventListener('abort', resolve)),
        ]);
        yield 'b';
      },
    });
    const gateway = await startResponses({ app });
    const begin = async () => {
      const leaving = new AbortController();
      const response = await gateway.ask('/responses', {
        method: 'POST',
        body: JSON.stringify({ input: 'x', stream: true }),
        headers: { 'content-type': 'application/json' },
        signal: leaving.signal,
      });
      const reader = response.body!.getReader();
      let text = '';
      const decoder = new TextDecoder();
      while (!text.includes('output_text.delta'))
        text += decoder.decode((await reader.read()).value, { stream: true });
      const rest = async () => {
        for (let part = await reader.read(); !part.done; part = await reader.read())
          text += decoder.decode(part.value);
        return framesIn(text);
      };
      return { id: framesIn(text)[0].response.id, rest, leave: () => leaving.abort() };
    };
    const stopped = await begin();
    await gateway.ask(`/responses/${encodeURIComponent(stopped.id)}/cancel`, { method: 'POST' });
    const last = (await stopped.rest()).at(-2);
    expect(last.type).to.equal('response.incomplete');
    expect(last.response).to.deep.include({ status: 'cancelled', incomplete_details: { reason: 'aborted' } });
    const left = await begin();
    left.leave();
    held.open();
    const frames = await framesOf(await gateway.ask(`/responses/${encodeURIComponent(left.id)}?stream=true`));
    expect(frames.at(-2).response.output[0].content[0].text).to.equal('a b');
  });

  it('end as incomplete where the model’s room ends, and with what the app counted', async () => {
    const app = defineApp({
      async *run(turn: any) {
        yield 'cut';
        turn.usage({ inputTokens: 3, outputTokens: 4, cachedInputTokens: 1 });
        return { stopReason: 'max_tokens' as const };
      },
    });
    const gateway = await startResponses({ app });
    const response = await (await gateway.post({ input: 'x' })).json();
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: {
        input_tokens: 3,
        output_tokens: 4,
        total_tokens: 7,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  it('give the app what its caller asks of the model, for this answer alone', async () => {
    const turns: any[] = [];
    const app = defineApp({
      // biome-ignore lint/correctness/useYield: it only listens
      async *run(turn: any) {
        turns.push({
          parameters: turn.parameters,
          tools: turn.clientTools,
          history: turn.history,
          metadata: turn.metadata,
        });
      },
    });
    const gateway = await startResponses({ app });
    const body = {
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'x' },
      ],
      instructions: 'Be brief.',
      max_output_tokens: 9,
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
      tools: [brought('a'), brought('b'), { type: 'web_search' }],
      tool_choice: { type: 'function', name: 'b' },
      metadata: { k: 'v' },
      unknown_field: 1,
    };
    const first = await (await gateway.post(body)).json();
    expect(first.instructions).to.equal(null);
    await (await gateway.post({ input: 'y', previous_response_id: first.id })).json();
    const [one, two] = turns;
    expect(one.parameters).to.deep.include({
      instructions: 'Be brief.',
      max_output_tokens: 9,
      max_completion_tokens: 9,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      tool_choice: { type: 'function', function: { name: 'b' } },
      unknown_field: 1,
    });
    expect(one.tools.map(({ name }: any) => name)).to.deep.equal(['a', 'b']);
    expect(one.metadata).to.deep.equal({ k: 'v' });
    expect(one.history.map(({ role }: any) => role)).to.deep.equal(['system']);
    expect(two.parameters).to.deep.equal({});
    expect(JSON.stringify(two.history)).to.not.contain('Be brief');
  });

  it('take a choice of a tool that the vendor runs for none, as they take the tool', async () => {
    const told: unknown[] = [];
    const app = defineApp({
      async *run(turn: any) {
        told.push([turn.parameters.tool_choice, turn.clientTools.map(({ name }: any) => name)]);
      },
    });
    const gateway = await startResponses({ app });
    const tools = [
      brought('a'),
      { type: 'web_search' },
      { type: 'mcp', server_label: 's', server_url: 'https://x.example' },
    ];
    const mine = { type: 'function', name: 'a' };
    const list = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', mode, tools });
    const hosted = [
      'file_search',
      'web_search',
      'web_search_preview_2025_03_11',
      'computer_use_preview',
      'code_interpreter',
      'image_generation',
      'shell',
      'apply_patch',
    ];
    const choices: [object, unknown][] = [
      ...hosted.map((type): [object, unknown] => [{ type }, ['auto', ['a']]]),
      [{ type: 'mcp', server_label: 's', name: 'find' }, ['auto', ['a']]],
      [list('required', mine, { type: 'web_search' }), ['required', ['a']]],
      [list('required', { type: 'mcp', server_label: 's', name: 'a' }), ['auto', []]],
    ];
    for (const [tool_choice, expected] of choices) {
      const response = await gateway.post({ input: 'x', tools, tool_choice });
      const { tool_choice: echoed } = await response.json();
      expect([response.status, echoed, told.at(-1)]).to.deep.equal([200, tool_choice, expected]);
    }
    for (const tool_choice of [{ type: 'function' }, { type: 'custom' }, { type: 'allowed_tools' }, {}])
      expect((await gateway.post({ input: 'x', tools, tool_choice })).status).to.equal(400);
  });
});
