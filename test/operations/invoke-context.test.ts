import { expect } from 'chai';
import { getContext, type MethodContext } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { gatewayOf } from '../support/role-gateway.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';

describe('POST /invoke, the context inside a method', () => {
  it('user.id, user.roles and user.tenantId are those of authentication, whatever params claim', async () => {
    const { invoke } = await gatewayOf({ who: async () => getContext().user });
    const claims = {
      user: { id: 'root', roles: ['admin'] },
      roles: ['admin'],
      tenantId: 'evil',
      sessionId: 'other',
    };
    const beside = await invoke({ method: 'who', ...claims, sessionId: 'main' });
    expect([beside.status, beside.body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
    const { body } = await invoke({ method: 'who', params: claims, sessionId: 'main' });
    expect(body).to.deep.equal({
      id: 'alice',
      tenantId: 'acme',
      roles: ['user'],
      email: 'alice@acme.test',
      plan: 'gold',
    });
  });

  it('metadata.sessionId is the session of the call; metadata.clientId is minted by the server', async () => {
    const { invoke } = await gatewayOf({ meta: async () => getContext().metadata });
    const { body } = await invoke({
      method: 'meta',
      params: { clientId: 'forged' },
      sessionId: 'default:main',
    });
    expect(body).to.include({ sessionId: 'main', transport: 'http', method: 'meta' });
    expect(body.clientId).to.be.a('string').and.not.equal('forged');
    expect((await invoke({ method: 'meta' })).body).not.to.have.property('sessionId');
  });

  it("traceId is the caller's traceparent, or a new one", async () => {
    const { invoke } = await gatewayOf({ trace: async () => getContext().traceId });
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(
      (await invoke({ method: 'trace' }, 'alice', { traceparent: `00-${id}-00f067aa0ba902b7-01` })).body,
    ).to.equal(id);
    const [one, two] = [
      (await invoke({ method: 'trace' })).body,
      (await invoke({ method: 'trace' }, 'alice', { traceparent: 'nonsense' })).body,
    ];
    expect(one).to.match(/^[0-9a-f]{32}$/);
    expect(two)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(one);
  });

  it("parentSpan is the caller's span of a valid traceparent, and absent without one", async () => {
    const { invoke } = await gatewayOf({ span: async () => getContext().parentSpan ?? 'none' });
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const spanOf = async (traceparent: string) =>
      (await invoke({ method: 'span' }, 'alice', { traceparent })).body;
    for (const [flags, traceFlags] of [
      ['01', 1],
      ['00', 0],
    ]) {
      expect(await spanOf(`00-${traceId}-${spanId}-${flags}`)).to.deep.equal({ traceId, spanId, traceFlags });
    }
    expect(await spanOf(`cc-${traceId}-${spanId}-01-later`)).to.deep.equal({
      traceId,
      spanId,
      traceFlags: 1,
    });
    for (const wrong of [
      `00-${traceId}-${spanId}-01-later`,
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      'nonsense',
    ]) {
      expect(await spanOf(wrong), wrong).to.equal('none');
    }
    expect((await invoke({ method: 'span' })).body).to.equal('none');
  });

  it('channels.publish takes the type in options, and refuses a bare one instead of losing it', async () => {
    const { invoke, url } = await gatewayOf({
      typed: async () => getContext().channels!.publish('news', 1, { type: 'flash' }),
      bare: async () => getContext().channels!.publish('news', 1, 'flash' as never),
    });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    const { status, body } = await invoke({ method: 'bare', sessionId: 'main' });
    expect([status, body.error.code]).to.deep.equal([400, 'INVALID_REQUEST']);
    await invoke({ method: 'typed', sessionId: 'main' });
    const { data } = await stream.until(({ event }) => event === 'channel');
    expect(data).to.deep.include({ event: { type: 'flash', payload: 1 } });
  });

  it('channels.publish reaches the viewers of the session; without a session there are no channels', async () => {
    const { invoke, url } = await gatewayOf({
      publish: async () => getContext().channels!.publish('news', { n: 1 }),
      has: async () => getContext().channels !== undefined,
    });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    expect((await invoke({ method: 'publish', sessionId: 'main' })).status).to.equal(204);
    const { data } = await stream.until(({ event }) => event === 'channel');
    expect(data).to.deep.include({ channel: 'news', event: { type: 'message', payload: { n: 1 } } });
    expect((await invoke({ method: 'has' })).body).to.equal(false);
  });

  it('emit(name, payload) reaches gateway.on and, with a session, its subscribers', async () => {
    const { invoke, url, gateway } = await gatewayOf({
      emit: async ({ n }: { n: number }) => getContext().emit('task:created', { n }),
    });
    const custom = new Hearing(gateway, 'custom');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    await invoke({ method: 'emit', params: { n: 1 } });
    await invoke({ method: 'emit', params: { n: 2 }, sessionId: 'main' });
    expect((await stream.until(({ event }) => event === 'custom')).data).to.deep.include({
      name: 'task:created',
      payload: { n: 2 },
    });
    expect(custom.heard).to.deep.equal([
      { name: 'task:created', payload: { n: 1 } },
      { sessionId: 'main', name: 'task:created', payload: { n: 2 } },
    ]);
  });

  it('emit begins the session that its subscribers wait for', async () => {
    const { invoke, url, gateway } = await gatewayOf({
      emit: async () => getContext().emit('task:created', { id: 1 }),
    });
    const created = new Hearing(gateway, 'session:created');
    const stream = await openStream(`${url}/events?sessionId=new`, { headers: as('alice') });
    await stream.until(({ event }) => event === 'connected');
    expect((await invoke({ method: 'emit', sessionId: 'new' })).status).to.equal(204);
    expect((await stream.until(({ event }) => event === 'custom')).data).to.deep.include({
      name: 'task:created',
      payload: { id: 1 },
    });
    expect(created.heard).to.deep.equal([{ sessionId: 'new', app: 'default', user: { id: 'alice' } }]);
  });

  it('emit to a session that may not begin is reported, heard by the host and harms nobody', async () => {
    const { gateway, url, log } = await startGateway({
      app: echo,
      limits: { shared: { sessions: 1 } },
      methods: { emit: async () => getContext().emit('tick', 1) },
    });
    const custom = new Hearing(gateway, 'custom');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect((await post(`${url}/invoke`, { method: 'emit', sessionId: 'second' })).status).to.equal(204);
    expect(await custom.nth()).to.deep.equal({ sessionId: 'second', name: 'tick', payload: 1 });
    expect(log.lines.at(-1)).to.include({ level: 'error', message: 'emitting "tick"' });
  });

  it('signal is aborted when the caller goes away', async () => {
    const [began, gone] = [gate(), gate()];
    const { url } = await gatewayOf({
      wait: async (_params: undefined, { signal }: MethodContext) => {
        signal.addEventListener('abort', () => gone.open());
        began.open();
        await gone.passed;
      },
    });
    const abort = new AbortController();
    const init = {
      method: 'POST',
      headers: { ...jsonHeaders(), ...as('alice') },
      body: '{"method":"wait"}',
      signal: abort.signal,
    };
    const request = fetch(`${url}/invoke`, init).catch(() => {});
    await began.passed;
    abort.abort();
    await gone.passed;
    await request;
  });
});
