import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createInProcessTransport } from '../../server/index.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import { OPERATIONS, type OperationName } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

/** Params that each operation takes, by its own words. */
const PARAMS = Object.fromEntries(
  Object.entries(OPERATION_WORDS).map(([name, { sample }]) => [name, sample]),
) as Readonly<Record<OperationName, Readonly<Record<string, unknown>>>>;

const methods = { ping: async () => 'pong' };
const UNKNOWN = { path: 'attachments', message: 'unknown field' };

describe('an unknown field of an operation', () => {
  for (const [name, { http, path }] of Object.entries(OPERATIONS)) {
    it(`of ${name} is refused by its name over HTTP, and nothing is done`, async () => {
      const { url } = await startGateway({ app: echo, methods });
      const params = { ...PARAMS[name as OperationName], attachments: 'x' } as Record<string, string>;
      const { status, body } =
        http === 'GET'
          ? await get(`${url}${path}?${new URLSearchParams(params)}`)
          : await post(`${url}${path}`, params);
      expect([status, body.error.code], JSON.stringify(body)).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(body.error.details).to.deep.equal([UNKNOWN]);
      expect(body.error.message).to.equal(`Invalid params of ${name}: attachments: unknown field`);
      expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
    });
  }

  for (const [name, open] of [
    ['WebSocket', (url: string) => openWebSocket(url)],
    ['Unix socket', (_url: string, socketPath: string) => openUnixSocket(socketPath)],
  ] as const) {
    it(`is refused by its name over a ${name}`, async () => {
      const socketPath = `${socketDirectory()}/gateway.sock`;
      const { url } = await startGateway({ app: echo, methods, socketPath });
      const socket = await open(url, socketPath);
      await socket.connect();
      // A socket's own connection is no param of it.
      const { subscribe, ...operations } = PARAMS;
      for (const [operation, params] of Object.entries({ ...operations, subscribe: {} })) {
        const answer = await socket.ask(operation, operation, { ...params, attachments: [] });
        expect(answer.ok, operation).to.equal(false);
        expect(answer.error, operation).to.deep.include({ code: 'INVALID_PARAMS', details: [UNKNOWN] });
      }
    });
  }

  it('is refused by its name in process, for clients and for host code', async () => {
    const { gateway } = await startGateway({ app: echo, auth: { type: 'none' } });
    const client = createClient({ transport: createInProcessTransport(gateway) });
    const options = { attachments: [] } as object;
    const failures = [
      client.send('main', 'hi', options).accepted,
      gateway.session('main').send('hi', options).accepted,
      gateway.execute('close', { sessionId: 'main', ...options }),
    ];
    for (const failing of failures) {
      const error = await failing.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.deep.include({ code: 'INVALID_PARAMS', details: [UNKNOWN] });
    }
  });

  it('is refused inside a message, a block and a subscription too, with its path', async () => {
    const { url } = await startGateway({ app: echo });
    const text = { type: 'text', text: 'hi' };
    const cases: [body: object, path: string][] = [
      [{ message: { role: 'user', content: 'hi', attachments: [] } }, 'message.attachments'],
      [{ message: [{ ...text, cache: true }] }, 'message.0.cache'],
      [{ message: { content: [text, { ...text, cache: true }] } }, 'message.content.1.cache'],
      [{ messages: ['one', { content: 'hi', props: {} }] }, 'messages.1.props'],
    ];
    for (const [body, path] of cases) {
      const answer = await post(`${url}/send`, { sessionId: 'main', ...body });
      expect(answer.status, path).to.equal(400);
      expect(answer.body.error.details, JSON.stringify(answer.body)).to.deep.equal([
        { path, message: 'unknown field' },
      ]);
    }
    const add = [{ sessionId: 'main', since: 3 }];
    const { body } = await post(`${url}/subscribe`, { connectionId: 'c', add });
    expect(body.error.details).to.deep.equal([{ path: 'add.0.since', message: 'unknown field' }]);
  });

  it('is a name of another system too: clientId, toolUseId, result', async () => {
    const { url } = await startGateway({ app: echo, methods });
    const cases: [path: string, body: object, field: string][] = [
      ['/invoke', { method: 'ping', clientId: 'mine' }, 'clientId'],
      ['/subscribe', { clientId: 'mine', sessionId: 'main' }, 'clientId'],
      ['/tool-response', { sessionId: 'main', toolUseId: 'c', approved: true }, 'toolUseId'],
      ['/tool-response', { sessionId: 'main', callId: 'c', result: 1 }, 'result'],
    ];
    for (const [path, body, field] of cases) {
      const answer = await post(`${url}${path}`, body);
      expect([answer.status, answer.body.error.code], path).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(answer.body.error.details, path).to.deep.include({ path: field, message: 'unknown field' });
    }
  });
});

describe('an empty message', () => {
  it('is refused, as a text and as the content of a message', async () => {
    const { url } = await startGateway({ app: echo });
    for (const [message, path] of [
      ['', 'message'],
      [{ role: 'user', content: '' }, 'message.content'],
      [[], 'message'],
    ] as const) {
      const { status, body } = await post(`${url}/send`, { sessionId: 'main', message });
      expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(body.error.details[0].path, JSON.stringify(body)).to.equal(path);
    }
    expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
  });
});
