import { expect } from 'chai';
import { z } from 'zod';
import {
  defineApp,
  type GatewayConfig,
  type Person,
  type PluginContext,
  type PluginSession,
  type ToolOutput,
  tool,
  toolResult,
} from '../../server/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { type Gate, gate } from '../support/gate.js';
import { get, post, preflight, startGateway, type TestGateway } from '../support/gateway.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

interface Bench extends TestGateway {
  readonly context: PluginContext;
  /** Opened when the handler of `slow` was called, and when it was aborted. */
  readonly began: Gate;
  readonly stopped: Gate<unknown>;
  /** A session of the user whom the gateway's own authentication finds. */
  session(user: string, id?: string): Promise<PluginSession>;
  follow(user: string, id?: string): Promise<RawStream>;
}

const tools = (began: Gate, stopped: Gate<unknown>) => ({
  add: tool({
    description: 'Adds',
    schema: z.object({ a: z.number(), b: z.number().default(1) }),
    handler: ({ a, b }, { progress, user, session }) => {
      progress(1, 2, 'adding');
      return { sum: a + b, user: user!.id, session: session.id };
    },
  }),
  picture: tool({
    schema: { type: 'object', $defs: { x: { $anchor: 'here', type: 'string' } } },
    handler: () =>
      toolResult({
        content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
        structured: { n: 1 },
      }),
  }),
  erase: tool({
    schema: z.object({ path: z.string() }),
    confirm: true,
    confirmMessage: 'Really?',
    handler: ({ path }) => `erased ${path}`,
  }),
  colour: tool({ description: 'Asks the user', runsOn: 'client' }),
  broken: tool({
    handler: () => {
      throw new Error('a secret');
    },
  }),
  /** Reports for a second. */
  reporting: tool({
    handler: async (_input, { progress, signal }) => {
      const began = performance.now();
      while (!signal.aborted && performance.now() - began < 1000) {
        progress(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return 'done';
    },
  }),
  slow: tool({
    handler: (_input, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => stopped.open(signal.reason));
        began.open();
      }),
  }),
});

async function bench(
  config: Partial<GatewayConfig> = {},
  start: (config: GatewayConfig) => Promise<TestGateway> = startGateway,
): Promise<Bench> {
  const began = gate();
  const stopped = gate<unknown>();
  const app = defineApp({ tools: tools(began, stopped), run: async (turn) => `heard ${turn.text}` });
  const started = await start({ app, auth: byName, ...config } as GatewayConfig);
  let context!: PluginContext;
  let person!: Person;
  started.gateway.use({
    name: 'tester',
    setup: (given) => {
      context = given;
      given.route('/me', async ({ authenticate, response }) => {
        person = await authenticate();
        response.end('{}');
      });
    },
  });
  return {
    ...started,
    context,
    began,
    stopped,
    session: async (user, id = 'main') => {
      await post(`${started.url}/me`, {}, as(user));
      return context.session(id, person);
    },
    follow: async (user, id = 'main') => {
      const stream = await openStream(`${started.url}/events?sessionId=${id}&from=earliest`, {
        headers: as(user),
      });
      await stream.until(({ event }) => event === 'connected');
      return stream;
    },
  };
}

/** Code of the error that a call is refused with. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'not refused',
    (error: { code: string }) => error.code,
  );
const textOf = (result: ToolOutput): string => (result.content[0] as { text: string }).text;
const asked = ({ event }: { event: string }): boolean => event === 'tool_confirmation_required';

describe('a session of a plugin', () => {
  it('lists the tools of the app with their JSON Schemas as they were written', async () => {
    const { context } = await bench();
    const listed = Object.fromEntries(context.tools('main').map(({ name, ...rest }) => [name, rest]));
    expect(listed.add).to.deep.include({ description: 'Adds' });
    expect(listed.add!.inputSchema).to.deep.include({ type: 'object', required: ['a'] });
    expect(listed.picture!.inputSchema).to.deep.equal({
      type: 'object',
      $defs: { x: { $anchor: 'here', type: 'string' } },
    });
    expect(listed.broken).to.deep.equal({});
    expect(context.apps().map(({ name }) => name)).to.deep.equal(['default']);
    expect(() => context.tools('none:x'))
      .to.throw()
      .with.property('code', 'APP_NOT_FOUND');
  });

  it('calls tools in the scope of its user, with progress, and begins no session for it', async () => {
    const { session, url } = await bench();
    const progress: unknown[] = [];
    const alice = await session('alice');
    const result = await alice.callTool('add', { a: 1 }, { progress: (report) => progress.push(report) });
    const structured = { sum: 2, user: 'alice', session: 'main' };
    expect(result).to.deep.equal({
      content: [{ type: 'text', text: JSON.stringify(structured) }],
      structured,
    });
    expect(progress[0]).to.deep.include({ value: 1, total: 2, message: 'adding' });
    const picture = await alice.callTool('picture', {});
    expect(picture.content[0]).to.include({ type: 'image' });
    expect(picture.structured).to.deep.equal({ n: 1 });
    expect((await get(`${url}/sessions`, as('alice'))).body.sessions).to.deep.equal([]);
  });

  it('answers a bad input, an unknown tool and a tool that throws with an error result, without its text', async () => {
    const { session, log } = await bench();
    const alice = await session('alice');
    const bad = await alice.callTool('add', { a: 'x' });
    expect(bad.isError).to.equal(true);
    expect(textOf(bad)).to.include('"path":"a"');
    expect(textOf(await alice.callTool('toString', {}))).to.include('no tool named toString');
    const broken = await alice.callTool('broken', {});
    expect(broken).to.deep.equal({ content: [{ type: 'text', text: 'The tool failed' }], isError: true });
    expect(log.lines.some(({ message }) => message.includes('tool broken failed'))).to.equal(true);
  });

  it('is bounded by sessionAccess and by the rate of calls', async () => {
    const operations: string[] = [];
    const { session } = await bench({
      limits: { invokesPerSecond: 1 },
      sessionAccess: (user, _session, operation) => {
        operations.push(operation);
        return user.id === 'alice';
      },
    });
    const alice = await session('alice');
    await alice.callTool('add', { a: 1 });
    await alice.callTool('add', { a: 1 });
    expect(await refusal(alice.callTool('add', { a: 1 }))).to.equal('RATE_LIMITED');
    expect(await refusal((await session('bob')).callTool('add', { a: 1 }))).to.equal('SESSION_NOT_FOUND');
    expect(operations).to.deep.equal(['tool-call', 'tool-call', 'tool-call']);
  });

  it('a tool that needs consent asks whoever follows the session, and runs once they agree', async () => {
    const { session, follow, url } = await bench();
    const stream = await follow('alice');
    const result = (await session('alice')).callTool('erase', { path: '/a' });
    const { data } = await stream.until(asked);
    expect(data).to.deep.include({ name: 'erase', input: { path: '/a' }, message: 'Really?' });
    expect(data).to.not.have.property('runId');
    expect((await get(`${url}/status?sessionId=main`, as('alice'))).body.status).to.equal('waiting');
    const late = await openStream(`${url}/events?sessionId=main&from=snapshot`, { headers: as('alice') });
    const { data: snapshot } = await late.until(({ event }) => event === 'snapshot');
    expect(snapshot.state.pending).to.have.length(1);
    const answer = { sessionId: 'main', callId: data.callId, approved: true, input: { path: '/b' } };
    expect((await post(`${url}/tool-response`, answer, as('bob'))).status, 'another user').to.equal(404);
    expect((await post(`${url}/tool-response`, answer, as('alice'))).status).to.equal(200);
    expect(textOf(await result)).to.equal('erased /b');
    await stream.until(({ event }) => event === 'tool_confirmation_result');
    expect((await post(`${url}/tool-response`, answer, as('alice'))).status, 'answered').to.equal(409);
    expect((await get(`${url}/status?sessionId=main`, as('alice'))).body.status).to.equal('idle');
  });

  it('a refusal is an error result, and so is a question that nobody is there to hear', async () => {
    const { session, follow, url } = await bench();
    const alice = await session('alice');
    expect(textOf(await alice.callTool('erase', { path: '/a' }))).to.include(
      'nobody follows the session main',
    );
    const stream = await follow('alice');
    const result = alice.callTool('erase', { path: '/a' });
    const { data } = await stream.until(asked);
    await post(
      `${url}/tool-response`,
      { sessionId: 'main', callId: data.callId, approved: false, reason: 'no' },
      as('alice'),
    );
    expect(await result).to.deep.equal({ content: [{ type: 'text', text: 'Denied: no' }], isError: true });
  });

  it("a client's tool is answered by whoever follows the session", async () => {
    const { session, follow, url } = await bench();
    const stream = await follow('alice');
    const result = (await session('alice')).callTool('colour', { of: 'sky' });
    const { data } = await stream.until(({ event }) => event === 'input_required');
    expect(data.payload).to.deep.equal({ of: 'sky' });
    await post(
      `${url}/tool-response`,
      { sessionId: 'main', callId: data.callId, output: 'blue' },
      as('alice'),
    );
    expect(textOf(await result)).to.equal('blue');
  });

  it('a call that is cancelled stops the tool and withdraws what it had asked', async () => {
    const { session, follow, stopped, url } = await bench();
    const alice = await session('alice');
    const abort = new AbortController();
    const slow = alice.callTool('slow', {}, { signal: abort.signal });
    const stream = await follow('alice');
    const erase = alice.callTool('erase', { path: '/a' }, { signal: abort.signal });
    const { data } = await stream.until(asked);
    abort.abort();
    expect((await slow).isError).to.equal(true);
    expect((await erase).isError).to.equal(true);
    expect(String(await stopped.passed)).to.include('Cancelled');
    const { data: withdrawn } = await stream.until(({ event }) => event === 'tool_confirmation_result');
    expect(withdrawn).to.include({ callId: data.callId, approved: false, reason: 'withdrawn' });
    const late = { sessionId: 'main', callId: data.callId, approved: true };
    expect((await post(`${url}/tool-response`, late, as('alice'))).status).to.equal(409);
    expect((await get(`${url}/status?sessionId=main`, as('alice'))).body.status).to.equal('idle');
    const cancelled = await alice.callTool('slow', {}, { signal: abort.signal });
    expect(cancelled.isError).to.equal(true);
  });

  it('a tool has its time, and the time a person takes is not counted', async () => {
    const { session, follow, url } = await bench({ limits: { methodMs: 200 } });
    const alice = await session('alice');
    expect(textOf(await alice.callTool('slow', {}))).to.equal('The tool took too long');
    const stream = await follow('alice');
    const erase = alice.callTool('erase', { path: '/a' });
    const { data } = await stream.until(asked);
    // Longer than the tool has: another tool's whole time goes by meanwhile.
    await alice.callTool('slow', {});
    await post(
      `${url}/tool-response`,
      { sessionId: 'main', callId: data.callId, approved: true },
      as('alice'),
    );
    expect(textOf(await erase)).to.equal('erased /a');
  });

  it('lets a tool that reports its progress go on, up to the time of a run', async () => {
    const call = async (limits: object): Promise<string> => {
      const { session } = await bench({ limits: { methodMs: 700, ...limits } });
      return textOf(await (await session('alice')).callTool('reporting', {}));
    };
    expect(await call({})).to.equal('done');
    expect(await call({ runMs: 700 })).to.equal('The tool took too long');
  });

  it('a session that is closed ends its calls, and close() of the gateway waits no longer than its bound', async () => {
    const { session, follow, gateway, began } = await bench({ limits: { drainMs: 50 } });
    const alice = await session('alice');
    const stream = await follow('alice');
    const erase = alice.callTool('erase', { path: '/a' });
    await stream.until(asked);
    await alice.close();
    expect(textOf(await erase)).to.equal('The session was closed');
    const slow = alice.callTool('slow', {});
    await began.passed;
    await gateway.close();
    expect(textOf(await slow)).to.equal('The gateway is shutting down');
    expect(await refusal(alice.callTool('add', { a: 1 }))).to.equal('SHUTTING_DOWN');
  });

  it('a question of a call that a crash ended is withdrawn at the next start', async () => {
    const path = newDatabase();
    const first = await bench({}, (config) => startDurable(path, config));
    const stream = await first.follow('alice');
    void (await first.session('alice')).callTool('erase', { path: '/a' });
    const { data } = await stream.until(asked);
    const second = await bench({}, (config) => startDurable(crashed(path), config));
    const again = await second.follow('alice');
    const { data: withdrawn } = await again.until(({ event }) => event === 'tool_confirmation_result');
    expect(withdrawn).to.include({ callId: data.callId, approved: false, reason: 'withdrawn' });
    expect((await get(`${second.url}/status?sessionId=main`, as('alice'))).body.status).to.equal('idle');
  });

  it('sends with a conversation held elsewhere, and is discarded without a trace', async () => {
    const { session, gateway, url } = await bench();
    const alice = await session('alice', 'temporary');
    const closed: unknown[] = [];
    gateway.on('session:closed', (event) => closed.push(event));
    const preceding = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ] as const;
    const run = alice.send('three', { preceding });
    const { cursor } = await run.accepted;
    const { message } = await run.result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'heard three' }]);
    const { messages } = await alice.history();
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    await alice.discard();
    await alice.discard();
    expect(closed).to.have.length(1);
    expect((await get(`${url}/history?sessionId=temporary`, as('alice'))).status).to.equal(404);
    expect((await alice.history()).messages).to.deep.equal([]);
    const headers = { ...as('alice'), 'last-event-id': cursor };
    const stream = await openStream(`${url}/events?sessionId=temporary`, { headers });
    await stream.until(({ event }) => event === 'gap');
  });
});

describe('a route of a plugin', () => {
  const origin = 'https://page.test';

  it('answers preflights of listed origins and refuses other methods', async () => {
    const { gateway, url } = await startGateway({ app: { run: () => 'x' }, origins: [origin] });
    gateway.use({
      name: 'tester',
      setup: ({ route }) =>
        route('/thing', ({ response }) => void response.end('{}'), {
          methods: ['POST', 'DELETE'],
          requestHeaders: ['X-Session-Id'],
          exposedHeaders: ['X-Seen'],
        }),
    });
    const allowed = await preflight(`${url}/thing`, origin, 'DELETE');
    expect(allowed.status).to.equal(204);
    expect(allowed.headers.get('access-control-allow-methods')).to.equal('POST, DELETE');
    expect(allowed.headers.get('access-control-allow-headers')).to.match(/Authorization.*X-Session-Id/);
    const answer = await fetch(`${url}/thing`, { method: 'DELETE', headers: { origin } });
    expect(answer.headers.get('access-control-expose-headers')).to.match(/Retry-After.*X-Seen/);
    const refused = await fetch(`${url}/thing`);
    expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'POST, DELETE']);
  });
});
