import { expect } from 'chai';
import type { GatewayConfig } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { INITIALIZE, postMcp } from '../plugins/mcp/mcp-clients.js';
import { echo } from '../support/apps.js';
import { askedOfAlice, asking } from '../support/asking.js';
import { get, post, startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const start = (config: Partial<GatewayConfig<any, any, any>> = {}) =>
  startGateway({ app: asking, auth: byName, ...config });
const codeOf = (body: any): string => body.error.code;

describe('row 11: sessions of others', () => {
  it('are not reached by their name, cursor, run or call, over HTTP and WebSocket alike', async () => {
    const { url } = await start();
    const {
      stream: mine,
      asked: { data, id },
    } = await askedOfAlice(url, 'main');

    const socket = await openWebSocket(url);
    await socket.connect({ token: 'bob' });
    const tries: [string, object][] = [
      ['history', { sessionId: 'main' }],
      ['status', { sessionId: 'main' }],
      ['abort', { sessionId: 'main', runId: data.runId }],
      ['close', { sessionId: 'main' }],
      ['tool-response', { sessionId: 'main', callId: data.callId, approved: true }],
    ];
    for (const [name, params] of tries) {
      const over = await socket.ask(name, name, params);
      const http = ['history', 'status'].includes(name)
        ? await get(`${url}/${name}?sessionId=main`, as('bob'))
        : await post(`${url}/${name}`, params, as('bob'));
      expect([http.status, codeOf(http.body), over.error.code], name).to.deep.equal([
        404,
        'SESSION_NOT_FOUND',
        'SESSION_NOT_FOUND',
      ]);
    }
    const resumed = await openStream(`${url}/events?sessionId=main&from=earliest`, {
      headers: { ...as('bob'), 'last-event-id': id! },
    });
    await resumed.until(({ event }) => event === 'heartbeat');
    await socket.ask('s', 'subscribe', { add: [{ sessionId: 'main', cursor: id }] });
    await socket.ask('again', 'status');
    for (const seen of [resumed.events, socket.frames])
      expect(JSON.stringify(seen)).not.to.match(/alice|erase|"ask"/);
    const { connectionId } = (await mine.until(({ event }) => event === 'connected')).data;
    const foreign = await post(`${url}/subscribe`, { connectionId, sessionId: 'x' }, as('bob'));
    expect(codeOf(foreign.body)).to.equal('CONNECTION_NOT_FOUND');
    expect((await get(`${url}/status?sessionId=main`, as('alice'))).body.status).to.equal('waiting');
  });

  it('are those of other tenants too', async () => {
    const { url } = await start({ sessionScope: 'tenant' });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('acme/alice'));
    expect((await get(`${url}/history?sessionId=main`, as('acme/bob'))).status).to.equal(200);
    expect((await get(`${url}/history?sessionId=main`, as('other/alice'))).status).to.equal(404);
  });

  it('sessionAccess that refuses, throws, rejects or answers nonsense is 404', async () => {
    for (const sessionAccess of [
      () => false,
      () => expect.fail('no'),
      async () => expect.fail('no'),
      () => 'yes',
      async () => 1,
    ] as any[]) {
      const { url } = await start({ sessionAccess });
      for (const answer of [
        await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice')),
        await get(`${url}/history?sessionId=main`, as('alice')),
        await get(`${url}/events?sessionId=main`, as('alice')),
      ]) {
        expect([answer.status, codeOf(answer.body)]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      }
    }
  });
});

describe('row 11: apps of others', () => {
  const two: GatewayConfig<any, any, any> = {
    apps: { assistant: asking, admin: { ...echo, description: 'For staff' } },
    defaultApp: 'assistant',
    auth: byName,
    appAccess: async (user, app) => app !== 'admin' || user.id === 'root',
  };

  it('answer like apps that do not exist, on every operation and door', async () => {
    const { url } = await startGateway(two);
    const socket = await openWebSocket(url);
    await socket.connect({ token: 'alice' });
    const answers = async (key: string) => [
      (await post(`${url}/send`, { sessionId: key, message: 'hi' }, as('alice'))).body.error,
      (await get(`${url}/history?sessionId=${key}`, as('alice'))).body.error,
      (await get(`${url}/events?sessionId=${key}`, as('alice'))).body.error,
      (await post(`${url}/channel`, { sessionId: key, channel: 'c' }, as('alice'))).body.error,
      (await socket.ask(`1${key}`, 'subscribe', { add: [key] })).error,
    ];
    const refused = await answers('admin:main');
    const absent = await answers('nobody:main');
    const told = (errors: object[]) =>
      JSON.stringify(errors.map((error) => ({ ...error, requestId: 'one of its own' })));
    expect(told(refused)).to.equal(told(absent).replaceAll('nobody', 'admin'));
    for (const error of refused) expect(error.code).to.equal('APP_NOT_FOUND');
    expect(
      (await post(`${url}/send`, { sessionId: 'admin:main', message: 'hi' }, as('root'))).status,
    ).to.equal(200);
  });

  it('are on no list: /apps, /sessions, and models of chat completions', async () => {
    const { url, gateway } = await startGateway(two);
    gateway.use(chatCompletionsPlugin({ modelMapping: { 'gpt-staff': 'admin' } }));
    const apps = async (name: string) =>
      (await get(`${url}/apps`, as(name))).body.apps.map((app: { name: string }) => app.name);
    const models = async (name: string) =>
      (await get(`${url}/v1/models`, as(name))).body.data.map(({ id }: { id: string }) => id);
    expect(await apps('alice')).to.deep.equal(['assistant']);
    expect(await apps('root')).to.deep.equal(['assistant', 'admin']);
    expect(await models('alice')).to.deep.equal(['assistant']);
    expect(await models('root')).to.have.members(['assistant', 'admin', 'gpt-staff']);
    for (const model of ['gpt-staff', 'admin']) {
      const request = { model, messages: [{ role: 'user', content: 'hi' }] };
      const answers = [
        await get(`${url}/v1/models/${model}`, as('alice')),
        await post(`${url}/v1/chat/completions`, request, as('alice')),
      ];
      for (const { status, body } of answers) {
        expect(status).to.equal(404);
        expect(body.error.message).to.equal(`The model "${model}" does not exist`);
      }
    }
  });

  it('have no tools for MCP clients', async () => {
    const { url, gateway } = await startGateway({
      ...two,
      apps: { assistant: echo, admin: asking },
    });
    gateway.use(mcpServerPlugin({ sessionId: 'admin:main' }));
    const initialize = (name: string) => postMcp(`${url}/mcp`, INITIALIZE, as(name));
    expect((await initialize('alice')).status).to.equal(404);
    expect((await initialize('root')).status).to.equal(200);
  });

  for (const appAccess of [() => expect.fail('no'), async () => 'yes', async () => undefined] as any[]) {
    it(`a check that fails or answers nonsense refuses (${String(appAccess).slice(0, 24)})`, async () => {
      const { url } = await startGateway({ ...two, appAccess });
      const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('root'));
      expect(codeOf(body)).to.equal('APP_NOT_FOUND');
      expect((await get(`${url}/apps`, as('root'))).body.apps).to.deep.equal([]);
    });
  }

  it('sessionAccess that is silent for longer than a guard may be refuses', async () => {
    const sessionAccess = () => new Promise<boolean>(() => {});
    const { url, log } = await startGateway({
      ...{ app: echo, auth: byName, sessionAccess },
      limits: { guardMs: 50 },
    });
    const { status, body } = await get(`${url}/history?sessionId=main`, as('alice'));
    expect([status, body.error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect(JSON.stringify(log.lines.map(({ message }) => message))).to.include('sessionAccess failed');
  });
});
