import { expect } from 'chai';
import { getContext, type MethodContext } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { jsonHeaders, post } from '../support/gateway.js';
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
    const { body } = await invoke({ method: 'who', params: claims, ...claims, sessionId: 'main' });
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
      clientId: 'forged',
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
