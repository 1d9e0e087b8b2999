import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { actor, STORES } from '../actor.js';
import { ended, isIdle, listed, readUntil, says, startSessions, textOf } from './fixtures.js';

const types = (events: readonly any[]): string[] => events.map(({ type }) => type);
const refusal = async (work: Promise<unknown>): Promise<unknown[]> => {
  const { status, error } = (await work.catch((caught: unknown) => caught)) as any;
  return [status, error?.error?.type];
};

for (const [store, make] of STORES)
  describe(`the sessions of the vendor’s client on ${store}`, () => {
    it('are created, found, changed, listed by pages, archived and deleted', async () => {
      const { app } = actor();
      const other = defineApp({ description: 'Another', run: async ({ text }: any) => `other ${text}` });
      const config = { apps: { default: app, other }, defaultApp: 'default', store: make() };
      const gateway = await startSessions(config as any, { agentMapping: { agent_011: 'other' } });
      const { sessions } = gateway.client().beta;
      const made = await sessions.create({
        agent: { type: 'agent', id: 'agent_011' },
        environment_id: 'env_1',
        title: 'Plans',
        metadata: { for: 'us' },
        initial_events: [says('hello')],
      });
      expect(made).to.deep.include({
        type: 'session',
        title: 'Plans',
        metadata: { for: 'us' },
        archived_at: null,
      });
      expect(made.agent).to.include({ id: 'other', description: 'Another' });
      await ended(gateway.client(), made.id);
      const said = await listed(gateway.client(), made.id, { types: ['agent.message'] });
      expect(said.map(textOf)).to.deep.equal(['other hello']);
      expect(await sessions.retrieve(made.id)).to.include({
        id: made.id,
        status: 'idle',
        created_at: made.created_at,
      });
      const changed = await sessions.update(made.id, { title: 'Others', metadata: { for: null, by: 'me' } });
      expect(changed).to.deep.include({ title: 'Others', metadata: { by: 'me' } });
      const more = [];
      for (let at = 0; at < 4; at++)
        more.push((await sessions.create({ agent: 'default', environment_id: 'e' })).id);
      const all = [];
      for await (const { id } of sessions.list({ limit: 2 })) all.push(id);
      expect(all).to.have.members([made.id, ...more]);
      expect((await sessions.archive(more[0]!)).archived_at).to.be.a('string');
      expect(await sessions.delete(more[1]!)).to.deep.equal({ id: more[1], type: 'session_deleted' });
      expect(await refusal(sessions.retrieve(more[1]!))).to.deep.equal([404, 'not_found_error']);
      const left = [];
      for await (const { id } of sessions.list({ agent_id: 'default' })) left.push(id);
      expect(left).to.have.members(more.slice(2));
    });

    it('tell messages, thinking and calls, in pieces where that is asked for, and list the same events', async () => {
      const { app } = actor();
      const gateway = await startSessions({ app, store: make() });
      const client = gateway.client();
      const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
      const event_deltas = ['agent.message' as const, 'agent.thinking' as const];
      const stream = await client.beta.sessions.events.stream(id, { event_deltas });
      const { data } = await client.beta.sessions.events.send(id, {
        events: [says('think hello look fail bye')],
      });
      const events = await readUntil(stream, isIdle);
      const whole = events.filter(({ type }) => type !== 'event_start' && type !== 'event_delta');
      expect(types(whole)).to.deep.equal([
        ...['user.message', 'session.status_running', 'agent.thinking', 'agent.message'],
        ...['agent.tool_use', 'agent.tool_result', 'agent.message', 'agent.tool_use', 'agent.tool_result'],
        ...['agent.message', 'session.status_idle'],
      ]);
      expect(data![0]).to.deep.equal(whole[0]);
      const thinking = whole.find(({ type }) => type === 'agent.thinking');
      const ofThinking = events.filter(({ event_id, event }) => (event_id ?? event?.id) === thinking.id);
      expect(types(ofThinking)).to.deep.equal(['event_start']);
      const [first, ...rest] = whole.filter(({ type }) => type === 'agent.message');
      expect(textOf(first)).to.equal('hello ');
      expect(textOf(rest.at(-1))).to.match(/bye $/);
      for (const message of [first, ...rest]) {
        const pieces = events.filter(({ event_id, event }) => (event_id ?? event?.id) === message.id);
        expect(pieces[0]).to.deep.equal({
          type: 'event_start',
          event: { id: message.id, type: 'agent.message' },
        });
        expect(
          pieces
            .slice(1)
            .map(({ delta }) => delta.content.text)
            .join(''),
        ).to.equal(textOf(message));
      }
      expect(
        whole.filter(({ type }) => type === 'agent.tool_result').map(({ is_error }) => is_error),
      ).to.deep.equal([false, true]);
      expect(await listed(client, id)).to.deep.equal(whole);
      expect(await listed(client, id, { limit: 3 })).to.deep.equal(whole);
      expect(await listed(client, id, { order: 'desc', limit: 4 })).to.deep.equal([...whole].reverse());
    });

    for (const result of ['allow', 'deny'] as const)
      it(`ask before a call is made, and go on: ${result}`, async () => {
        const { app, effects } = actor();
        const gateway = await startSessions({ app, store: make() });
        const client = gateway.client();
        const { events } = client.beta.sessions;
        const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
        const stream = await events.stream(id);
        await events.send(id, { events: [says('pay where done')] });
        const told: any[] = [];
        const calls: unknown[] = [];
        for await (const event of stream as AsyncIterable<any>) {
          told.push(event);
          if (!isIdle(event)) continue;
          if (event.stop_reason.type === 'end_turn') break;
          const [asked] = event.stop_reason.event_ids;
          const { type, name } = told.find((other) => other.id === asked);
          expect((await client.beta.sessions.retrieve(id)).status).to.equal('idle');
          calls.push([type, name]);
          const given =
            name === 'pay'
              ? { type: 'user.tool_confirmation', tool_use_id: asked, result, deny_message: 'not now' }
              : {
                  type: 'user.custom_tool_result',
                  custom_tool_use_id: asked,
                  content: [{ type: 'text', text: 'Oslo' }],
                };
          await events.send(id, { events: [given as never] });
        }
        expect(calls).to.deep.equal([
          ['agent.tool_use', 'pay'],
          ['agent.custom_tool_use', 'where'],
        ]);
        stream.controller.abort();
        expect(effects).to.deep.equal(result === 'allow' ? ['pay'] : []);
        const said = told
          .filter(({ type }) => type === 'agent.message')
          .map(textOf)
          .join('');
        expect(said)
          .to.contain(result === 'allow' ? '"did":"pay"' : 'not now')
          .and.to.contain('Oslo');
        const confirmation = told.find(({ type }) => type === 'user.tool_confirmation');
        expect(confirmation).to.include({ result, deny_message: result === 'deny' ? 'not now' : null });
        const again = {
          type: 'user.tool_confirmation' as const,
          tool_use_id: confirmation.tool_use_id,
          result,
        };
        expect((await refusal(events.send(id, { events: [again] })))[0]).to.be.within(400, 499);
      });

    it('ask and are answered by the same events for every reader, whether it comes early or late', async () => {
      const { app } = actor();
      const gateway = await startSessions({ app, store: make() });
      const client = gateway.client();
      const { events } = client.beta.sessions;
      const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
      const early: any[] = [];
      const stream = await events.stream(id);
      await events.send(id, { events: [says('pay where mixed where done')] });
      const kinds = new Map<string, string>();
      for await (const event of stream as AsyncIterable<any>) {
        early.push(event);
        kinds.set(event.id, event.type);
        if (!isIdle(event)) continue;
        if (event.stop_reason.type === 'end_turn') break;
        const [asked] = event.stop_reason.event_ids;
        const given =
          kinds.get(asked) === 'agent.tool_use'
            ? { type: 'user.tool_confirmation', tool_use_id: asked, result: 'allow' }
            : { type: 'user.custom_tool_result', custom_tool_use_id: asked, content: says('here').content };
        await events.send(id, { events: [given as never] });
      }
      stream.controller.abort();
      expect(await listed(client, id)).to.deep.equal(early);
      const headers = { 'last-event-id': early[0].id };
      const late = await readUntil(
        await events.stream(id, {}, { headers }),
        (event) => event.id === early.at(-1).id,
      );
      expect(late).to.deep.equal(early.slice(1));
    });

    it('run the client’s own tools by its own runner', async () => {
      const app = defineApp({
        async *run(turn: any) {
          yield `It is ${await turn.callTool('clock', { zone: 'UTC' })}.`;
        },
        tools: { clock: { runsOn: 'client' } as never },
      });
      const gateway = await startSessions({ app, store: make() });
      const client = gateway.client();
      const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
      const asked: unknown[] = [];
      const clock = {
        type: 'custom',
        name: 'clock',
        description: 'Tells the time',
        input_schema: { type: 'object', properties: {} },
        parse: (input: unknown) => input,
        run: (input: unknown) => {
          asked.push(input);
          return 'noon';
        },
      };
      const runner = client.beta.sessions.events.toolRunner(id, { tools: [clock as never], maxIdleMs: 50 });
      const ran = (async () => {
        for await (const _ of runner);
      })();
      await client.beta.sessions.events.send(id, { events: [says('when?')] });
      await ran;
      expect(asked).to.deep.equal([{ zone: 'UTC' }]);
      expect((await listed(client, id, { types: ['agent.message'] })).map(textOf)).to.deep.equal([
        'It is noon.',
      ]);
    });

    it('are interrupted, and tell failures', async () => {
      const begun = gate();
      const app = defineApp({
        async *run({ text, signal }: any) {
          yield 'begun ';
          begun.open();
          if (text === 'break') throw new Error('secret');
          await new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
        },
      });
      const gateway = await startSessions({ app, store: make() });
      const client = gateway.client();
      const id = await gateway.begin(client, 'wait');
      const stream = await client.beta.sessions.events.stream(id);
      await begun.passed;
      await client.beta.sessions.events.send(id, { events: [{ type: 'user.interrupt' }] });
      const idle = (await readUntil(stream, isIdle)).at(-1);
      expect(idle.stop_reason).to.deep.equal({ type: 'end_turn' });
      const broken = await gateway.begin(client, 'break');
      const events = await ended(client, broken);
      expect(types(events).slice(-3)).to.deep.equal([
        'agent.message',
        'session.error',
        'session.status_idle',
      ]);
      expect(JSON.stringify(events)).to.not.contain('secret');
    });

    it('have a thread for each child run, whose questions the session asks', async () => {
      const hold = gate();
      const child = defineApp({
        tools: { pay: { confirm: true, handler: () => 'paid' } as never },
        async *run(turn: any) {
          yield `child ${await turn.callTool('pay', {})}`;
          await hold.passed;
        },
      });
      const parent = defineApp({
        async *run(turn: any) {
          const { message } = await turn.spawn('child', { message: 'work', id: 'worker' }).result;
          yield `heard ${textOf(message)}`;
        },
      });
      const config = { apps: { default: parent, child }, defaultApp: 'default', store: make() };
      const gateway = await startSessions(config as any);
      const client = gateway.client();
      const id = await gateway.begin(client, 'go');
      const asked = await readUntil(
        await client.beta.sessions.events.stream(
          id,
          {},
          { headers: { 'last-event-id': (await listed(client, id))[0].id } },
        ),
        isIdle,
      );
      const created = asked.find(({ type }) => type === 'session.thread_created');
      expect(created).to.include({ agent_name: 'child' });
      const use = asked.find(({ type }) => type === 'agent.tool_use');
      expect(use.session_thread_id).to.equal(created.session_thread_id);
      const threads = [];
      for await (const thread of client.beta.sessions.threads.list(id)) threads.push(thread.id);
      expect(threads).to.deep.equal([created.session_thread_id]);
      await client.beta.sessions.events.send(id, {
        events: [{ type: 'user.tool_confirmation', tool_use_id: use.id, result: 'allow' }],
      });
      const thread = await client.beta.sessions.threads.events.stream(threads[0]!, {
        session_id: id,
        event_deltas: ['agent.message'],
      });
      hold.open();
      const told = await readUntil(thread, ({ type }) => type === 'agent.message');
      expect(textOf(told.at(-1))).to.equal('child paid');
      const all = await ended(client, id);
      expect(all.filter(({ type }) => type === 'agent.message').map(textOf)).to.deep.equal([
        'heard child paid',
      ]);
      expect(types(all)).to.include('session.thread_status_idle');
    });
  });

describe('the routes of sessions', () => {
  it('are nobody else’s', async () => {
    const { app } = actor();
    const gateway = await startSessions({ app });
    const id = await gateway.begin(gateway.client(), 'pay secret');
    const mine = await listed(gateway.client(), id);
    const { sessions } = gateway.client('bob').beta;
    const tries: Promise<unknown>[] = [
      sessions.retrieve(id),
      sessions.update(id, { title: 'x' }),
      sessions.archive(id),
      sessions.delete(id),
      listed(gateway.client('bob'), id),
      sessions.events.stream(id) as unknown as Promise<unknown>,
      sessions.events.send(id, { events: [says('x')] }),
      sessions.events.send(id, { events: [{ type: 'user.interrupt' }] }),
      sessions.threads.list(id) as unknown as Promise<unknown>,
    ];
    for (const tried of tries) expect(await refusal(tried)).to.deep.equal([404, 'not_found_error']);
    const all = [];
    for await (const session of sessions.list()) all.push(session);
    expect(all).to.deep.equal([]);
    expect((await listed(gateway.client(), id)).slice(0, mine.length)).to.deep.equal(mine);
  });

  it('refuse what is malformed by the vendor’s types of errors, and change nothing', async () => {
    const { app } = actor();
    const gateway = await startSessions({ app });
    const client = gateway.client();
    const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
    const post = (path: string, body: unknown) =>
      gateway.ask(`/v1/sessions${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    const odd: [string, unknown, number][] = [
      ['', {}, 400],
      ['', { agent: 'nobody' }, 404],
      ['', { agent: 'default', title: 5 }, 400],
      ['', [], 400],
      ['', { agent: 'default', initial_events: [{ type: 'user.interrupt' }] }, 400],
      [`/${id}/events`, {}, 400],
      [`/${id}/events`, { events: [] }, 400],
      [`/${id}/events`, { events: [{ type: 'system.message', content: [] }] }, 400],
      [`/${id}/events`, { events: Array.from({ length: 101 }, () => says('x')) }, 400],
      [
        `/${id}/events`,
        {
          events: [
            { type: 'user.message', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
          ],
        },
        400,
      ],
      ...['x', 'sevt_', 'sevt_a~b', 'sevt_run_x~1', `sevt_${'~'.repeat(500)}`].map(
        (tool_use_id): [string, unknown, number] => [
          `/${id}/events`,
          { events: [{ type: 'user.tool_confirmation', tool_use_id, result: 'allow' }] },
          404,
        ],
      ),
      ['/none', { title: 'x' }, 404],
      ['/a%20b/events', { events: [says('x')] }, 400],
      [`/${id}/nothing`, {}, 404],
    ];
    for (const [path, body, status] of odd) {
      const response = await post(path, body);
      const { type, error } = (await response.json()) as any;
      expect(
        [response.status, type, typeof error.message],
        `${path} ${JSON.stringify(body)}`.slice(0, 200),
      ).to.deep.equal([status, 'error', 'string']);
    }
    for (const query of ['limit=0', 'limit=x', 'page=sevt_none'])
      expect((await gateway.ask(`/v1/sessions/${id}/events?${query}`)).status).to.equal(400);
    for (const lastId of ['x', 'sevt_run_none~3'])
      expect(
        (await gateway.ask(`/v1/sessions/${id}/events/stream`, { headers: { 'last-event-id': lastId } }))
          .status,
      ).to.equal(400);
    expect(await listed(client, id)).to.deep.equal([]);
    const anonymous = await fetch(`${gateway.url}/v1/sessions`);
    expect([anonymous.status, ((await anonymous.json()) as any).error.type]).to.deep.equal([
      401,
      'authentication_error',
    ]);
  });

  it('are asked again without a second run where the client tries again', async () => {
    let runs = 0;
    const app = defineApp({ run: async () => `run ${++runs}` });
    const gateway = await startSessions({ app });
    const { id } = await gateway.client().beta.sessions.create({ agent: 'default', environment_id: 'e' });
    const post = (count: number) =>
      gateway.ask(`/v1/sessions/${id}/events`, {
        method: 'POST',
        body: JSON.stringify({ events: [says('once')] }),
        headers: { 'content-type': 'application/json', 'x-stainless-retry-count': String(count) },
      });
    const first = await (await post(0)).json();
    expect(await (await post(1)).json()).to.deep.equal(first);
    await post(0);
    const events = await listed(gateway.client(), id, { types: ['user.message'] });
    expect(events).to.have.length(2);
  });
});
