import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { z } from 'zod';
import { channels } from '../../server/diagnostics/index.js';
import { getContext, method, tool } from '../../server/index.js';
import { inProcess, sse, unixSocket, webSocket } from '../behaviour/doors/own.js';
import { echo } from '../support/apps.js';
import { collect, failure } from '../support/client.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { hear } from '../support/tracing.js';

const DOORS = [
  { door: sse, calls: 'http', events: 'sse' },
  { door: webSocket, calls: 'websocket', events: 'websocket' },
  { door: unixSocket, calls: 'unix-socket', events: 'unix-socket' },
  { door: inProcess, calls: 'in-process', events: 'in-process' },
];
const TRACE_ID = 'a'.repeat(32);
const TRACEPARENT = `00-${TRACE_ID}-${'b'.repeat(16)}-01`;

const methods = {
  add: method({ schema: z.object({ a: z.number() }), handler: ({ a }) => a + 1 }),
  later: method({ handler: async () => 'late' }),
  count: method({
    handler: async function* () {
      yield 1;
      yield 2;
    },
  }),
  broken: method({
    handler: async function* () {
      yield 1;
      throw new TypeError('inner');
    },
  }),
  admin: method({ roles: ['admin'], handler: () => 'secret' }),
};

for (const { door, calls, events } of DOORS) {
  describe(`operations on their channel, over ${door.name}`, () => {
    it('tell who asked for what, and what came of it', async () => {
      const { gateway, client } = await door.open({ apps: { main: echo }, defaultApp: 'main', methods });
      const ear = hear(channels.operation);
      const alice = client();
      const { runId } = await alice.send('main:one', 'Hello').result;

      const sent = await ear.over(({ operation }) => operation === 'send');
      const { user, clientId, trace, ...rest } = sent.message;
      expect(user.id).to.equal('alice');
      expect(clientId).to.be.a('string');
      expect(trace?.traceId).to.match(/^[0-9a-f]{32}$/);
      expect(sent.events).to.deep.equal(['start', 'end', 'asyncStart', 'asyncEnd']);
      expect(rest).to.include({
        gatewayId: gateway.id,
        transport: calls,
        sessionId: 'one',
        runId,
        repeated: false,
      });
      expect((rest.result as { runId: string }).runId).to.equal(runId);

      const opened = await ear.over(({ operation }) => operation === 'events' || operation === 'subscribe');
      expect(opened.message.user.id).to.equal('alice');
      expect(opened.message.transport).to.equal(opened.message.operation === 'events' ? events : calls);
    });

    it('last as long as a method does, or its stream', async () => {
      const { client } = await door.open({ app: echo, methods });
      const ear = hear(channels.operation);
      const alice = client();
      expect(await alice.invoke('later')).to.equal('late');
      const later = await ear.over(({ method }) => method === 'later');
      expect(later.message.result).to.equal('late');
      expect(await collect(alice.stream('count'))).to.deep.equal([1, 2]);
      const count = await ear.over(({ method }) => method === 'count');
      expect(count.events).to.deep.equal(['start', 'end', 'asyncStart', 'asyncEnd']);
      expect(count.message).to.not.have.property('error');
      await failure(collect(alice.stream('broken')));
      const broken = await ear.over(({ method }) => method === 'broken');
      expect(broken.events).to.deep.equal(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
      expect(broken.message.error).to.be.instanceOf(TypeError);
      expect(broken.message.code).to.equal('INTERNAL');
    });

    it('tell what was refused, and with which code', async () => {
      const { client } = await door.open({ app: echo, methods });
      const ear = hear(channels.operation);
      const alice = client();
      const refusals = [
        [() => alice.invoke('admin'), 'GUARD_DENIED', 'admin'],
        [() => alice.invoke('add', { a: 'x' }), 'INVALID_PARAMS', 'add'],
        [() => alice.invoke('no:such'), 'METHOD_NOT_FOUND', undefined],
        [() => alice.session('nothing').history(), 'SESSION_NOT_FOUND', undefined],
      ] as const;
      for (const [ask, code, name] of refusals) {
        expect((await failure(ask())).code).to.equal(code);
        const { message, events } = await ear.over((message) => message.code === code);
        expect(events).to.include('error');
        expect(message.method).to.equal(name);
        expect(message).to.not.have.property('result');
      }
    });
  });
}

describe('the channel of operations', () => {
  it('gives synchronous methods their whole life between start and end', async () => {
    const { url } = await startGateway({ app: echo, methods });
    const ear = hear(channels.operation);
    expect((await post(`${url}/invoke`, { method: 'add', params: { a: 1 } })).body).to.equal(2);
    const { events, message } = await ear.over();
    expect(events).to.deep.equal(['start', 'end']);
    expect(message.result).to.equal(2);
    await post(`${url}/invoke`, { method: 'admin' });
    const refused = await ear.over(({ method }) => method === 'admin');
    expect(refused.events).to.deep.equal(['start', 'error', 'end']);
  });

  it('has the trace of the caller, and binds stores for handlers, streams included', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const note = (what: string): unknown => seen.push([what, storage.getStore(), getContext().traceId]);
    const { url } = await startGateway({
      app: echo,
      methods: {
        plain: method({
          handler: async () => {
            await null;
            note('plain');
          },
        }),
        many: method({
          handler: async function* () {
            note('many');
            yield 1;
            note('many');
          },
        }),
      },
    });
    channels.operation.start.bindStore(storage, ({ operation, method }) => `${operation} ${method}`);
    closeLater(storage, (it) => channels.operation.start.unbindStore(it));
    const headers = { traceparent: TRACEPARENT };
    await post(`${url}/invoke`, { method: 'plain' }, headers);
    await post(`${url}/invoke`, { method: 'many' }, { ...headers, accept: 'text/event-stream' }).catch(
      () => {},
    );
    expect(seen).to.deep.equal([
      ['plain', 'invoke plain', TRACE_ID],
      ['many', 'invoke many', TRACE_ID],
      ['many', 'invoke many', TRACE_ID],
    ]);
  });

  it('tells of a repeated send, and of each session that a stream resumed', async () => {
    const { url } = await startGateway({ app: echo });
    const ear = hear(channels.operation);
    const send = { sessionId: 'main', message: 'x', idempotencyKey: 'k' };
    const { body } = await post(`${url}/send`, send);
    await post(`${url}/send`, send);
    const again = await ear.over(({ repeated }) => repeated === true);
    expect(again.message.runId).to.equal(body.runId);
    await openStream(`${url}/events?sessionId=main&lastEventId=${body.cursor}&token=${TOKEN}`);
    const { message } = await ear.over(({ operation }) => operation === 'events');
    expect((message.result as any).main).to.include({ resume: 'exact' });
  });

  it('hears of what host code and plugins ask for, tool calls outside of runs included', async () => {
    const { gateway } = await startGateway({
      auth: { type: 'none' },
      app: { ...echo, tools: { double: tool({ handler: (n) => Number(n) * 2 }) } },
    });
    const ear = hear(channels.operation);
    gateway.use({
      name: 'other-protocol',
      setup: (context) => {
        const person = { user: { id: 'anonymous' }, scope: 's', userKey: 'u', roles: [] } as never;
        void context.session('main', person).callTool('double', 4);
      },
    });
    const called = await ear.over(({ operation }) => operation === 'tool-call');
    expect(called.message).to.include({ transport: 'other-protocol', sessionId: 'main' });
    await gateway.session('main').send('hi').result;
    expect((await ear.over(({ operation }) => operation === 'send')).message.transport).to.equal('host');
  });
});
