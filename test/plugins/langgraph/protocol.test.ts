import { expect } from 'chai';
import { heldApp } from '../../support/apps.js';
import { alone } from '../../support/gateway.js';
import { openWebSocket } from '../../support/raw-socket.js';
import { as } from '../../support/users.js';
import { actor, human, SDKS, startLangGraph } from './fixtures.js';

type Ui = Awaited<ReturnType<typeof startLangGraph>>;

const CONTENT = ['values', 'checkpoints', 'lifecycle', 'input', 'messages', 'tools', 'custom'];

/** The events of a thread up to the end of what ran. */
async function eventsOf(
  ui: Ui,
  body: object,
  headers: Record<string, string> = {},
  ends = 1,
): Promise<any[]> {
  const leaving = new AbortController();
  const response = await ui.ask('/threads/main/stream/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
  const events: any[] = [];
  let text = '';
  let left = ends;
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, at))?.[1];
      text = text.slice(at + 2);
      if (data === undefined) continue;
      const event = JSON.parse(data);
      events.push(event);
      if (event.method === 'lifecycle' && event.params.data.event !== 'running') left -= 1;
    }
    if (left <= 0) break;
  }
  leaving.abort();
  return events;
}

const command = async (ui: Ui, method: string, params: unknown, user?: string): Promise<any> =>
  (await ui.post('/threads/main/commands', { id: 7, method, params }, user)).json();

const start = (text: string, more: object = {}) => ({
  assistant_id: 'default',
  input: { messages: [{ type: 'human', id: `id-${text.slice(0, 5)}`, content: text }] },
  ...more,
});

describe("LangGraph's protocol", () => {
  it('has the same events under the same ids for every reader, in growing numbers', async () => {
    const ui = await startLangGraph({ app: actor().app });
    const { type, result, meta } = await command(ui, 'run.start', start('think hello look pay bye'));
    expect(type).to.equal('success');
    expect(meta.applied_through_seq).to.be.greaterThan(0);
    const first = await eventsOf(ui, { channels: CONTENT });
    const [asked] = first.filter(({ method }) => method === 'input.requested');
    const { interrupt_id } = asked.params.data;
    await command(ui, 'input.respond', { namespace: [], interrupt_id, response: { approved: true } });
    const all = await eventsOf(ui, { channels: CONTENT, namespaces: [[]], depth: 1 }, {}, 2);
    expect(all.slice(0, first.length)).to.deep.equal(first);
    const seqs = all.map(({ seq }) => seq);
    expect(seqs).to.deep.equal([...new Set(seqs)].sort((a, b) => a - b));
    expect(new Set(all.map(({ event_id }) => event_id)).size).to.equal(all.length);
    const runs = all
      .filter(({ method }) => method === 'lifecycle')
      .map(({ event_id, params }) => [event_id.split(':').slice(0, 2).join(':'), params.data.event]);
    expect(runs).to.deep.equal([
      [`synth:${result.run_id}`, 'running'],
      [`synth:${result.run_id}`, 'interrupted'],
      [`synth:${result.run_id}~1`, 'running'],
      [`synth:${result.run_id}~1`, 'completed'],
    ]);
    const middle = all[Math.floor(all.length / 2)];
    const rest = all.slice(all.indexOf(middle) + 1);
    const ends = rest.filter(
      ({ method, params }) => method === 'lifecycle' && params.data.event !== 'running',
    ).length;
    expect(
      await eventsOf(ui, { channels: CONTENT }, { 'last-event-id': middle.event_id }, ends),
    ).to.deep.equal(rest);
    expect(await eventsOf(ui, { channels: CONTENT, since: middle.seq }, {}, ends)).to.deep.equal(rest);
    const watched = await eventsOf(ui, { channels: ['lifecycle', 'input'] }, {}, 2);
    expect(watched).to.deep.equal(all.filter(({ method }) => /^(?:lifecycle|input)/.test(method)));
    const named = (id: string) => ui.ask(`/threads/main/runs/${encodeURIComponent(id)}/stream`);
    const joined = await named(`${result.run_id}~1`);
    expect(await joined.text()).to.match(/event: end\ndata: null\n(?:id: .*\n)?\n$/);
    for (const id of [`${result.run_id}~2`, `${result.run_id}~1\r\nx: y`, 'none'])
      expect((await named(id)).status, id).to.be.oneOf([400, 404]);
    const cancelled = await ui.ask(`/threads/main/runs/${result.run_id}~1/cancel`, { method: 'POST' });
    expect(cancelled.status).to.equal(202);
  });

  it('begins a run of the client behind each answer, also for who reads all of them at once', async () => {
    const ui = await startLangGraph({ app: actor().app });
    const { result } = await command(ui, 'run.start', start('pay ask bye'));
    for (const [at, response] of [{ approved: true }, 'red'].entries()) {
      const asked = (await eventsOf(ui, { channels: CONTENT }, {}, at + 1)).findLast(
        ({ method }) => method === 'input.requested',
      );
      await command(ui, 'input.respond', { interrupt_id: asked.params.data.interrupt_id, response });
    }
    const all = await eventsOf(ui, { channels: CONTENT }, {}, 3);
    const runs = all
      .filter(({ method }) => method === 'lifecycle')
      .map(({ event_id, params }) => [event_id.split(':')[1], params.data.event]);
    const { run_id } = result;
    expect(runs).to.deep.equal([
      ...['running', 'interrupted'].map((event) => [run_id, event]),
      ...['running', 'interrupted'].map((event) => [`${run_id}~1`, event]),
      ...['running', 'completed'].map((event) => [`${run_id}~2`, event]),
    ]);
  });

  it('has a WebSocket with the same events and commands', async () => {
    const ui = await startLangGraph({ app: actor().app });
    const open = (path = '/threads/main/stream/events', user = 'alice') =>
      openWebSocket(ui.url, `/langgraph${path}`, as(user));
    const socket = await open();
    const ask = async (id: number, method: string, params: unknown) => {
      socket.say({ id, method, params });
      return socket.until((frame) => frame.id === id);
    };
    const subscribed = await ask(1, 'subscription.subscribe', { channels: CONTENT, namespaces: [[]] });
    expect(subscribed).to.deep.include({ type: 'success', meta: { applied_through_seq: 0 } });
    expect(await ask(2, 'run.start', start('hello bye'))).to.include({ type: 'success' });
    const isEnd = ({ method, params }: any) => method === 'lifecycle' && params.data.event === 'completed';
    await socket.until(isEnd);
    const told = socket.frames.filter(({ type }) => type === 'event');
    expect(told).to.deep.equal(await eventsOf(ui, { channels: CONTENT }));
    const subscription = { subscription_id: subscribed['result'].subscription_id };
    expect(await ask(3, 'subscription.unsubscribe', subscription)).to.deep.include({ type: 'success' });
    expect(await ask(4, 'subscription.unsubscribe', subscription)).to.include({
      error: 'no_such_subscription',
    });
    expect(await ask(5, 'subscription.subscribe', {})).to.include({ error: 'invalid_argument' });
    expect(await ask(6, 'agent.getTree', {})).to.include({ error: 'not_supported' });
    await ask(7, 'run.start', start('again'));
    expect(socket.frames.filter(({ type }) => type === 'event')).to.have.length(told.length);
    socket.send('no command');
    expect(await socket.until(({ id }) => id === null)).to.include({ error: 'invalid_argument' });
    for (let id = 10; id < 42; id++) await ask(id, 'subscription.subscribe', { channels: ['input'] });
    expect(await ask(42, 'subscription.subscribe', { channels: ['input'] })).to.include({ type: 'error' });
    expect(await (await open('/threads/main/stream')).closed).to.equal(4404);
    expect(await (await open(undefined, 'bad')).closed).to.equal(4401);
  });

  describe('on a WebSocket with two subscriptions, as pages have', () => {
    const OF_PAGES = [['lifecycle', 'input'], CONTENT.filter((channel) => channel !== 'input')];

    /** A socket that subscribes to all at once, as pages do when they come back. */
    const pageOf = async (ui: Ui) => {
      const socket = await openWebSocket(ui.url, '/langgraph/threads/main/stream/events', as('alice'));
      for (const [id, channels] of OF_PAGES.entries())
        socket.say({ id, method: 'subscription.subscribe', params: { channels } });
      return socket;
    };

    /** The events of a socket, once it has everything of so many runs. */
    const toldTo = async (socket: Awaited<ReturnType<typeof pageOf>>, runs: number) => {
      for (const [method, event] of [
        ['lifecycle', 'completed'],
        ['messages', 'message-finish'],
      ])
        await socket.until(
          () =>
            socket.frames.filter((frame: any) => frame.method === method && frame.params.data.event === event)
              .length >= runs,
        );
      return socket.frames.filter(({ type }: any) => type === 'event');
    };

    const inOrder = (frames: readonly any[]): void => {
      const seqs = frames.map(({ seq }) => seq);
      expect(seqs).to.deep.equal([...seqs].sort((a, b) => a - b));
      expect(new Set(frames.map(({ event_id }) => event_id)).size).to.equal(frames.length);
      expect(frames.at(-1)).to.have.nested.property('params.data.event', 'completed');
    };

    it('tells what came while it was away in the order of the log: the end of a run last', async () => {
      const ui = await startLangGraph({ app: actor().app });
      await ui.post('/threads/main/runs/wait', start('think hello look data bye'));
      const told = await toldTo(await pageOf(ui), 1);
      inOrder(told);
      expect(told).to.deep.equal(await eventsOf(ui, { channels: CONTENT }));
    });

    it('tells a run in the order of the log, also where one subscribes in its middle', async () => {
      const { app, held, began } = heldApp('working ', 'done');
      const ui = await startLangGraph({ app });
      const one = await pageOf(ui);
      await one.until(({ id }) => id === 1);
      one.say({ id: 5, method: 'run.start', params: start('go') });
      await began.passed;
      const two = await pageOf(ui);
      held.open();
      for (const socket of [one, two]) {
        const told = await toldTo(socket, 1);
        inOrder(told);
        // A third one is told nothing that the first two were, and all of its own.
        socket.say({ id: 6, method: 'subscription.subscribe', params: { channels: ['messages'] } });
        await socket.until(
          () =>
            socket.frames.filter(({ params }: any) => params?.data?.event === 'message-finish').length === 2,
        );
        const again = socket.frames.filter(({ type }: any) => type === 'event').slice(told.length);
        expect(again).to.deep.equal(told.filter(({ method }: any) => method === 'messages'));
      }
    });
  });

  it('has streams of events counted as connections', async () => {
    const ui = await startLangGraph({ app: actor().app, limits: { connectionsPerUser: 1 }, ...alone() });
    const body = JSON.stringify({ channels: ['input'] });
    const headers = { 'content-type': 'application/json' };
    const follow = () => ui.ask('/threads/main/stream/events', { method: 'POST', headers, body });
    const first = await follow();
    expect(first.status).to.equal(200);
    expect((await follow()).status).to.equal(429);
    const closing = ui.gateway.close();
    await first.text().catch(() => {});
    await closing;
  });

  it('begins with what is folded where events are not kept any more', async () => {
    const limits = { retention: { events: 20 } };
    const ui = await startLangGraph({ app: actor().app, limits } as any);
    await command(ui, 'run.start', start(`${'word '.repeat(60)}pay bye`));
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    for await (const event of session.events({ from: 'snapshot' }))
      if (
        event.type === 'tool_confirmation_required' ||
        (event.type === 'snapshot' && event.state.pending.length > 0)
      )
        break;
    const events = await eventsOf(ui, { channels: CONTENT });
    const texts = events.filter(({ params }) => params.data.event === 'content-block-delta');
    expect(texts.map(({ params }) => params.data.delta.text).join('')).to.equal('word '.repeat(60));
    expect(events.at(-1).params.data.event).to.equal('interrupted');
    const { callId } = (await (await ui.ask('/threads/main/state')).json()).tasks[0].interrupts.map(
      ({ id }: any) => ({ callId: id }),
    )[0];
    expect(events.find(({ method }) => method === 'input.requested').params.data.interrupt_id).to.equal(
      callId,
    );
  });

  it('tells a run by the classic routes where its beginning is not kept any more', async () => {
    const limits = { retention: { events: 20 } };
    const ui = await startLangGraph({ app: actor().app, limits } as any);
    const words = 'word '.repeat(60);
    await ui.post('/threads/main/runs/wait', start(`${words}pay ${words}bye`));
    const command = { resume: { approved: true } };
    const body = { assistant_id: 'default', command, stream_mode: ['values'] };
    const text = await (await ui.post('/threads/main/runs/stream', body)).text();
    expect(text).to.match(/event: end\ndata: null\n(?:id: .*\n)?\n$/);
    expect(text).to.include('bye ');
    const [{ run_id }] = (await (await ui.ask('/threads/main/runs')).json()) as any;
    await ui.post('/threads/main/runs/wait', start('and more'));
    const later = await (await ui.ask(`/threads/main/runs/${run_id}/stream?stream_mode=values`)).text();
    expect(later).to.match(/^event: metadata[\s\S]*event: values[\s\S]*bye [\s\S]*event: end/);
    expect(later).not.to.include('and more');
  });

  it('refuses by the codes of the protocol', async () => {
    const { app, effects } = actor();
    const ui = await startLangGraph({ app });
    const refused = async (method: string, params: unknown): Promise<string> => {
      const { type, id, error, message } = await command(ui, method, params);
      expect([type, id, typeof message]).to.deep.equal(['error', 7, 'string']);
      return error;
    };
    expect(await refused('nothing', {})).to.equal('unknown_command');
    expect(await refused('subscription.subscribe', {})).to.equal('not_supported');
    expect(await refused('run.start', { assistant_id: 'default', input: {} })).to.equal('invalid_argument');
    expect(await refused('run.start', { ...start('x'), assistant_id: 'none' })).to.equal('invalid_argument');
    expect(await refused('run.start', start('x', { multitaskStrategy: 'rollback' }))).to.equal(
      'invalid_argument',
    );
    const config = { configurable: { checkpoint_id: 'none' } };
    expect(await refused('run.start', start('x', { config }))).to.equal('no_such_checkpoint');
    const none = { interrupt_id: 'none', response: true };
    expect(await refused('input.respond', none)).to.equal('no_such_interrupt');
    await command(ui, 'run.start', start('pay'));
    await eventsOf(ui, { channels: CONTENT });
    expect(await refused('input.respond', none)).to.equal('no_such_interrupt');
    expect(await refused('input.respond', { ...none, update: { messages: [] } })).to.equal('not_supported');
    expect((await command(ui, 'input.respond', none, 'bob')).error).to.equal('no_such_interrupt');
    expect(effects).to.deep.equal([]);
    const wrong = await ui.post('/threads/main/commands', '"x"');
    expect(await wrong.json()).to.deep.include({ type: 'error', id: null, error: 'invalid_argument' });
    expect((await ui.ask('/threads/main/stream/events')).status).to.equal(405);
    expect((await ui.ask('/nothing')).status).to.equal(404);
    expect((await ui.ask('/threads/main/state', { user: 'bad' })).status).to.equal(401);
    expect((await ui.ask('/threads/no%20name/state')).status).to.equal(400);
  });

  it('approves nothing that does not say so', async () => {
    const { app, effects } = actor();
    const ui = await startLangGraph({ app });
    const responses = [
      null,
      'yes',
      {},
      { approved: 'true' },
      { decisions: [] },
      { decisions: [{ type: 'reject', message: 'no' }] },
      [{ type: 'ignore' }],
      [{ type: 'response', args: 'no' }],
    ];
    const allowed = [
      true,
      { approved: true },
      [{ type: 'accept' }],
      { decisions: [{ type: 'approve' }] },
      { decisions: [{ type: 'edit', edited_action: { name: 'pay', args: { n: 5 } } }] },
      { approved: true, input: { n: 6 } },
    ];
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    const answered: string[] = [];
    for (const [at, response] of [...responses, ...allowed].entries()) {
      const { result } = await command(ui, 'run.start', {
        assistant_id: 'default',
        input: { messages: [{ role: 'user', id: `m-${at}`, content: 'pay' }] },
      });
      for await (const event of session.run(result.run_id))
        if (event.type === 'tool_confirmation_required') {
          const { type } = await command(ui, 'input.respond', { interrupt_id: event.callId, response });
          expect(type).to.equal('success');
        }
      const { message } = await session.run(result.run_id).result;
      answered.push(JSON.stringify(message.content.find(({ type }) => type === 'tool_result')));
    }
    expect(effects).to.have.length(allowed.length);
    expect(answered.at(-2)).to.include('"n":5');
    expect(answered.at(-1)).to.include('"n":6');
  });

  it('gives no answer that names no question to one of several', async () => {
    const { app, effects } = actor();
    const ui = await startLangGraph({ app });
    const [, sdk] = SDKS;
    const client = ui.client(sdk!);
    const { __interrupt__: asked }: any = await client.runs.wait('main', 'default', {
      input: human('both done'),
    });
    expect(asked).to.have.length(2);
    const resume = (...types: string[]) => ({ resume: { decisions: types.map((type) => ({ type })) } });
    const refused = await ui.post('/threads/main/runs/wait', {
      assistant_id: 'default',
      command: resume('approve'),
    });
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.match(/2 questions/);
    expect(effects).to.deep.equal([]);
    const both = { assistant_id: 'default', command: resume('reject', 'approve') };
    await (await ui.post('/threads/main/runs/wait', both)).text();
    const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
    const results = messages.at(-1)!.content.filter((block) => block.type === 'tool_result');
    const ofCall = (id: string) => results.find(({ callId }) => callId === id)?.isError;
    expect(ofCall(asked[0].id)).to.equal(true);
    // The app may have failed with the first before it heard of the second.
    expect(ofCall(asked[1].id)).to.not.equal(true);
  });

  it('puts what is sent to a busy thread behind, and knows a request that is repeated', async () => {
    const { app, effects } = actor();
    const ui = await startLangGraph({ app });
    const one = await command(ui, 'run.start', start('pay one'));
    const again = await command(ui, 'run.start', start('pay one'));
    expect(again.result).to.deep.equal(one.result);
    const two = await command(ui, 'run.start', start('two'));
    const state = await (await ui.ask('/threads/main/state')).json();
    expect(state.next).to.deep.equal(['default']);
    const runs = await (await ui.ask('/threads/main/runs?status=pending')).json();
    expect(runs.map(({ run_id }: any) => run_id)).to.deep.equal([two.result.run_id]);
    expect(runs[0].kwargs.input.messages[0].content).to.equal('two');
    const reject = await command(ui, 'run.start', start('three', { multitaskStrategy: 'reject' }));
    expect(reject.type).to.equal('error');
    const instead = await command(ui, 'run.start', start('four', { multitaskStrategy: 'interrupt' }));
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    expect((await session.run(one.result.run_id).result).stopReason).to.equal('superseded');
    expect((await session.run(instead.result.run_id).result).stopReason).to.equal('end');
    expect((await session.run(two.result.run_id).result).stopReason).to.equal('end');
    expect(effects).to.deep.equal([]);
  });

  it('takes files, the state and the configuration of a client', async () => {
    const seen: any[] = [];
    const app = {
      async *run(turn: any) {
        seen.push([turn.message.content, turn.parameters, turn.metadata, turn.history.length]);
        yield 'seen';
      },
    };
    const ui = await startLangGraph({ app } as any);
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'file', mime_type: 'text/plain', data: 'aGk=', metadata: { name: 'a.txt' } },
    ];
    const before = [
      { type: 'human', content: 'old' },
      { type: 'ai', content: 'answer' },
    ];
    const { result } = await command(ui, 'run.start', {
      assistant_id: 'default',
      input: { messages: [...before, { type: 'human', content }], colour: 'red' },
      config: { configurable: { thread_id: 'main', model: 'tiny' } },
      metadata: { from: 'test' },
    });
    await ui.gateway.session('main', { user: { id: 'alice' } }).run(result.run_id).result;
    const [[blocks, parameters, metadata, history]] = seen;
    expect(blocks).to.deep.equal([
      { type: 'text', text: 'look' },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      { type: 'file', mediaType: 'text/plain', name: 'a.txt', data: 'aGk=' },
    ]);
    expect(parameters).to.deep.equal({ state: { colour: 'red' }, configurable: { model: 'tiny' } });
    expect(metadata).to.deep.equal({ from: 'test' });
    expect(history).to.equal(2);
    const { values } = await (await ui.ask('/threads/main/state')).json();
    expect(values.messages[2].content[1]).to.deep.equal({
      type: 'image',
      mime_type: 'image/png',
      data: 'aGk=',
    });
  });
});
