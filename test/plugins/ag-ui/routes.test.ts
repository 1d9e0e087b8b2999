import { EventSchemas } from '@ag-ui/core/schemas';
import { EventSchemas as EventSchemas0 } from 'ag-ui-client0';
import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { as } from '../../support/users.js';
import { actor, eventsIn, eventsOf, input, STORES, says, startAgUi } from './fixtures.js';

const RUN = '/agent/default';
const typesOf = (events: readonly any[]): string[] => events.map(({ type }) => type);
const snapshotIn = (events: readonly any[]): any[] | undefined =>
  events.findLast(({ type }) => type === 'MESSAGES_SNAPSHOT')?.messages;
const toldIn = (events: readonly any[]): string =>
  events.map(({ type, delta = '' }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : '')).join('');

describe('agUiPlugin', () => {
  it('refuses options that are wrong', async () => {
    const { app } = actor();
    for (const options of [{ path: 'ag-ui' }, { onBusy: 'steer' }, { seed: 'yes' }])
      await startAgUi({ app }, options as never).then(
        () => expect.fail('was accepted'),
        (error) => expect(error.code).to.equal('INVALID_REQUEST'),
      );
  });

  it('tells what the later and the earlier clients know, and nothing else', async () => {
    const { app } = actor();
    const ui = await startAgUi({ app });
    for (const [at, text] of ['think hello look data fail bye', 'break', 'both', 'ask'].entries()) {
      const body = input('r', [says('u1', text)], { threadId: `thread-${at}` });
      const { protocolVersion: _, ...earlier } = { ...body, threadId: `earlier-${at}` };
      const events = await eventsOf(await ui.post(RUN, body));
      for (const event of events) expect(EventSchemas.safeParse(event).error).to.equal(undefined);
      const before = await eventsOf(await ui.post(RUN, earlier));
      for (const event of before) expect(EventSchemas0.safeParse(event).error).to.equal(undefined);
      expect(typesOf(before)).to.deep.equal(typesOf(events));
    }
  });

  it('has one stream for all proxies: uncompressed, not kept, LF alone', async () => {
    const { app } = actor();
    const ui = await startAgUi({ app });
    const response = await ui.post(RUN, input('r', [says('u1', 'hello')]));
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(response.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    expect(await response.text()).not.to.include('\r');
  });

  it('says what is wrong with a request in plain words', async () => {
    const { app } = actor();
    const ui = await startAgUi({ app });
    const body = input('r', [says('u1', 'hello')]);
    const cases: [string, unknown, number, RegExp][] = [
      [RUN, [], 400, /body/],
      [RUN, { ...body, runId: '' }, 400, /^runId: /],
      [RUN, { ...body, messages: [] }, 400, /^messages: /],
      [RUN, { ...body, messages: [says('u1', [])] }, 400, /^messages\.0\.content/],
      [RUN, { ...body, messages: [says('u1', [{ type: 'video' }])] }, 400, /^messages\.0\.content/],
      [RUN, { ...body, threadId: 'no spaces' }, 400, /./],
      ['/agent/other', body, 404, /./],
      ['/agent', body, 404, /./],
      ['/agent/default/walk', body, 404, /./],
      ['/agent/default/run/on', body, 404, /./],
      ['', { method: 'walk' }, 400, /^method: /],
      ['', { method: 'agent/run', params: {} }, 400, /^params\.agentId: /],
      ['', { method: 'agent/stop', params: { agentId: 'default' } }, 400, /^params\.threadId: /],
    ];
    for (const [path, sent, status, text] of cases) {
      const response = await ui.post(path, sent);
      expect([response.status, path]).to.deep.equal([status, path]);
      expect(response.headers.get('content-type')).to.match(/^text\/plain/);
      expect(await response.text()).to.match(text);
    }
    expect((await ui.ask(`${RUN}/connect`)).status).to.equal(405);
    expect((await ui.ask(RUN)).status).to.equal(400);
    expect((await ui.ask(`${RUN}?offset=-1&runId=none`)).status).to.equal(404);
    expect((await ui.ask(`${RUN}?offset=-1&runId=main~run_none`)).status).to.equal(404);
    const strange = { ...as('alice'), 'content-type': 'application/json', 'last-event-id': 'x' };
    const again = await fetch(`${ui.base}${RUN}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: strange,
    });
    expect([again.status, await again.text()]).to.deep.equal([
      400,
      'Last-Event-ID: must be an event id of this route',
    ]);
    expect((await ui.post('/info', {})).status).to.equal(405);
    const plain = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'text/plain' } };
    expect((await ui.ask(RUN, plain)).status).to.equal(415);
    expect((await ui.ask('/info', { user: 'bad' })).status).to.equal(401);
  });

  it('names the apps that the caller may use', async () => {
    const { app } = actor();
    const ui = await startAgUi({
      apps: { one: { ...app, description: 'First' }, two: app },
      defaultApp: 'one',
    });
    const { agents, ...rest } = await (await ui.ask('/info')).json();
    expect(agents).to.deep.equal({
      one: { name: 'one', description: 'First', className: 'HttpAgent' },
      two: { name: 'two', description: '', className: 'HttpAgent' },
    });
    expect(rest).to.deep.include({ mode: 'sse', telemetryDisabled: true });
    expect((await (await ui.post('', { method: 'info' })).json()).agents).to.deep.equal(agents);
    const body = input('r', [says('u1', 'hello')]);
    await (await ui.post('/agent/two', body)).text();
    expect(
      (await ui.gateway.session('two:main', { user: { id: 'alice' } }).history()).messages,
    ).to.have.length(2);
  });

  for (const [store, make] of STORES) {
    it(`keeps the threads and runs of users apart: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startAgUi({ app, store: make() });
      const alices = await eventsOf(await ui.post(RUN, input('r', [says('u1', 'secret pay')])));
      const { id: interruptId } = alices.at(-1).outcome.interrupts[0];
      // The same thread of another user is another, as is the same run.
      const connected = await ui.post(`${RUN}/connect`, input('c', []), 'bob');
      expect([connected.status, await connected.text()]).to.deep.equal([200, '']);
      const bobs = await (await ui.post(RUN, input('r', [says('u1', 'mine')]), 'bob')).text();
      expect(bobs).to.include('mine').and.not.to.include('secret');
      const resume = [{ interruptId, status: 'resolved', payload: true }];
      const resumed = await ui.post(RUN, input('r2', [says('u1', 'mine')], { resume }), 'bob');
      expect(await resumed.text()).not.to.include('secret');
      const stopped = await ui.post(`${RUN}/stop/main`, { runId: 'r' }, 'bob');
      expect(await stopped.json()).to.include({ stopped: false });
      expect((await (await ui.post(`${RUN}/stop/none`, {}, 'bob')).json()).stopped).to.equal(false);
      expect(effects).to.deep.equal([]);
      const done = await ui.post(RUN, input('r3', [says('u1', 'secret pay')], { resume }));
      expect(await done.text()).to.include('"did\\":\\"pay');
      expect(effects).to.deep.equal(['pay']);
    });

    it(`begins one run for one runId, and tells it the same again: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startAgUi({ app, store: make() });
      const body = input('r1', [says('u1', 'look pay done')]);
      const both = await Promise.all(
        [ui.post(RUN, body), ui.post(RUN, body)].map(async (it) => (await it).text()),
      );
      expect(both[0]).to.equal(both[1]);
      expect(await (await ui.post(RUN, body)).text()).to.equal(both[0]);
      const { id: interruptId } = eventsIn(both[0]!).at(-1).outcome.interrupts[0];
      const resume = [{ interruptId, status: 'resolved', payload: true }];
      const next = input('r2', body.messages, { resume });
      const answered = await (await ui.post(RUN, next)).text();
      expect(await (await ui.post(RUN, next)).text()).to.equal(answered);
      expect(await (await ui.post(RUN, body)).text()).to.equal(both[0]);
      expect(effects).to.deep.equal(['look', 'pay']);
      const other = await ui.post(RUN, input('r1', [says('u2', 'other')]));
      expect([other.status, other.headers.get('x-error-code')]).to.deep.equal([422, 'IDEMPOTENCY_CONFLICT']);
      const keyed = (runId: string) =>
        ui.ask(RUN, {
          method: 'POST',
          body: JSON.stringify(input(runId, [...body.messages, says('u3', 'keyed')])),
          headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
        });
      expect(toldIn(await eventsOf(await keyed('r4')))).to.equal('keyed ');
      expect(toldIn(await eventsOf(await keyed('r5')))).to.equal('keyed ');
      expect((await ui.gateway.session('main', { user: { id: 'alice' } }).history()).messages).to.have.length(
        4,
      );
    });

    it(`answers an edited message, and a message again: ${store}`, async () => {
      const app = defineApp({ run: async (turn: any) => `${turn.history.length}: ${turn.text}` });
      const ui = await startAgUi({ app, store: make() });
      const messages: any[] = [says('u1', 'one')];
      const run = async (runId: string): Promise<any[]> =>
        eventsOf(await ui.post(RUN, input(runId, messages)));
      const first = await run('r1');
      expect(toldIn(first)).to.equal('0: one');
      const again = await run('r2');
      expect(toldIn(again)).to.equal('0: one');
      expect(again[1].messageId).not.to.equal(first[1].messageId);
      expect(await run('r2')).to.deep.equal(again);
      messages[0] = says('u1', 'edited');
      const edited = await run('r3');
      expect(toldIn(edited)).to.equal('0: edited');
      expect(await run('r3')).to.deep.equal(edited);
      messages.push({ id: edited[1].messageId, role: 'assistant', content: '0: edited' }, says('u2', 'two'));
      const next = await run('r4');
      expect(toldIn(next)).to.equal('2: two');
      expect(typesOf(next)).not.to.include('MESSAGES_SNAPSHOT');
    });
  }

  it('seeds a session that has not begun, unless it must not', async () => {
    const { app } = actor();
    const before = [
      { id: 's1', role: 'system', content: 'Be kind' },
      says('u0', 'look it up'),
      {
        id: 'a0',
        role: 'assistant',
        content: 'Sure',
        toolCalls: [{ id: 'c0', type: 'function', function: { name: 'look', arguments: '{"n":1}' } }],
      },
      { id: 't0', role: 'tool', toolCallId: 'c0', content: 'found' },
      { id: 'x0', role: 'activity', activityType: 'map', content: {} },
    ];
    for (const seed of [true, false]) {
      const ui = await startAgUi({ app }, { seed });
      await (await ui.post(RUN, input('r', [...before, says('u1', 'hello')]))).text();
      const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
      const seeded = ['system', 'user', 'assistant', 'tool', 'user', 'assistant'];
      expect(messages.map(({ role }) => role)).to.deep.equal(seed ? seeded : seeded.slice(4));
      const told = snapshotIn(await eventsOf(await ui.post(`${RUN}/connect`, input('c', []))))!;
      if (seed) expect(told.slice(0, 4)).to.deep.equal(before.slice(0, 4));
    }
  });

  it('edits a message of a long conversation, however far back that is', async () => {
    const { app } = actor();
    const ui = await startAgUi({ app });
    const said = Array.from({ length: 400 }, (_, at) => ({
      id: `m${at}`,
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `said ${at}`,
    }));
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    await session.import(said);
    const told = await eventsOf(await ui.post(RUN, input('r1', [says('m0', 'edited')])));
    expect(toldIn(told)).to.equal('edited ');
    const { messages } = await session.history();
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
  });

  it('passes on what the client says: parts, context, state, properties', async () => {
    let seen: any;
    const app = defineApp({
      run: async (turn: any) => {
        seen = { content: turn.message.content, parameters: turn.parameters, tools: turn.clientTools };
        return 'ok';
      },
    });
    const ui = await startAgUi({ app });
    const content = [
      { type: 'text', text: 'See' },
      { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
      {
        type: 'document',
        source: { type: 'url', value: 'https://a.example/b.pdf', mimeType: 'application/pdf' },
      },
    ];
    const binary = { type: 'binary', mimeType: 'audio/wav', data: 'aGk=', filename: 'a.wav' };
    const more = {
      context: [{ description: 'page', value: 'home' }],
      state: { a: 1 },
      forwardedProps: { b: 2 },
      tools: [{ name: 'x', description: 'y', parameters: { type: 'object' } }],
    };
    await (await ui.post(RUN, input('r', [says('u1', [...content, binary])], more))).text();
    expect(seen.content).to.deep.equal([
      { type: 'text', text: 'See' },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      { type: 'file', mediaType: 'application/pdf', url: 'https://a.example/b.pdf' },
      { type: 'audio', mediaType: 'audio/wav', data: 'aGk=', name: 'a.wav' },
    ]);
    const { tools, ...parameters } = more;
    expect(seen.parameters).to.deep.equal(parameters);
    expect(seen.tools).to.deep.equal(tools);
    const [user] = snapshotIn(await eventsOf(await ui.post(`${RUN}/connect`, input('c', []))))!;
    const heard = { type: 'audio', source: { type: 'data', value: 'aGk=', mimeType: 'audio/wav' } };
    expect(user.content).to.deep.equal([...content, heard]);
  });

  it('passes on what the app says of its state', async () => {
    const app = defineApp({
      async *run() {
        yield { type: 'custom', name: 'STATE_SNAPSHOT', payload: { snapshot: { n: 1 } } } as const;
        yield {
          type: 'custom',
          name: 'STATE_DELTA',
          payload: { delta: [{ op: 'add', path: '/m', value: 2 }] },
        } as const;
        yield { type: 'custom', name: 'other', payload: 3 } as const;
      },
    });
    const ui = await startAgUi({ app });
    const events = await eventsOf(await ui.post(RUN, input('r', [says('u1', 'go')])));
    expect(events.slice(1, -1)).to.deep.equal([
      { type: 'STATE_SNAPSHOT', snapshot: { n: 1 } },
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/m', value: 2 }] },
      { type: 'CUSTOM', name: 'other', value: 3 },
    ]);
  });

  it('queues what comes while a thread is busy, or refuses it; the queued one begins with what was said meanwhile', async () => {
    const held = gate();
    const began = gate();
    const app = defineApp({
      async *run(turn: any) {
        yield `${turn.text} `;
        began.open();
        await held.passed;
        yield 'done';
      },
    });
    const ui = await startAgUi({ app });
    const first = await ui.post(RUN, input('r1', [says('u1', 'one')]));
    await began.passed;
    const second = await ui.post(RUN, input('r2', [says('u1', 'one'), says('u2', 'two')]));
    held.open();
    const told = await eventsOf(await first.clone());
    const { messageId } = told[1];
    const queued = await eventsOf(second);
    expect(typesOf(queued).slice(0, 2)).to.deep.equal(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(snapshotIn(queued)).to.deep.equal([
      says('u1', 'one'),
      { id: messageId, role: 'assistant', content: 'one done' },
      says('u2', 'two'),
    ]);
    const strict = await startAgUi(
      { app: defineApp({ run: () => new Promise<never>(() => {}) }) },
      { onBusy: 'reject' },
    );
    const running = await strict.post(RUN, input('r1', [says('u1', 'one')]));
    const refused = await strict.post(RUN, input('r2', [says('u1', 'one'), says('u2', 'two')]));
    expect([refused.status, refused.headers.get('x-error-code')]).to.deep.equal([409, 'SESSION_BUSY']);
    await running.body!.cancel();
  });

  it('writes on instead of answering: what is open is denied first', async () => {
    const { app, effects } = actor();
    const ui = await startAgUi({ app });
    const messages = [says('u1', 'pay')];
    const asked = await eventsOf(await ui.post(RUN, input('r1', messages)));
    const [{ id: interruptId }] = asked.at(-1).outcome.interrupts;
    const resume = [{ interruptId, status: 'cancelled' }];
    const next = await eventsOf(
      await ui.post(RUN, input('r2', [...messages, says('u2', 'instead')], { resume })),
    );
    expect(toldIn(next)).to.equal('instead ');
    expect(effects).to.deep.equal([]);
    const list = snapshotIn(await eventsOf(await ui.post(`${RUN}/connect`, input('c', []))))!;
    expect(list.map(({ role }: any) => role)).to.deep.equal([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
  });
});
