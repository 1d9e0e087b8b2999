import { expect } from 'chai';
import {
  createInProcessTransport,
  defineApp,
  type GatewayConfig,
  memoryFiles,
  type PluginContext,
} from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { connectClient, failure } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { PNG, uploaded } from '../support/files.js';
import { get, post, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';
import { as, byName, personOf } from '../support/users.js';
import { holdWallClock } from '../support/wall-clock.js';

/** Says of each file that it is told to read what it found; a file is named by the message, or by its text. */
const reader = defineApp({
  async *run(turn) {
    const named = turn.message.content.flatMap((block) =>
      'fileId' in block && block.fileId ? [block.fileId] : [],
    );
    for (const fileId of turn.text ? [turn.text] : named) {
      const file = await turn.file(fileId);
      const bytes = await file.bytes();
      let streamed = 0;
      for await (const chunk of file.stream() as unknown as AsyncIterable<Uint8Array>)
        streamed += chunk.length;
      const part = await new Response(file.stream({ start: 1, end: 3 })).text();
      yield `${file.name ?? '-'} ${file.mediaType} ${file.size} ${bytes.length} ${streamed} ${part.length}\n`;
    }
  },
});

const start = (config: Partial<GatewayConfig<any>> = {}) =>
  startGateway({ app: reader, auth: byName, ...config });

const image = (fileId: string) => [{ type: 'image', mediaType: 'image/*', fileId }];
const send = (url: string, message: unknown, user = 'alice', more: object = {}) =>
  post(`${url}/send`, { sessionId: 'main', message, ...more }, as(user));
const statusOf = async (url: string, fileId: string, user = 'alice') =>
  (await fetch(`${url}/files/${fileId}`, { headers: as(user) })).status;

describe('a message that names a file', () => {
  it('has it read by the app, and says what it is, whatever its sender says', async () => {
    const { url } = await start();
    const { fileId } = await uploaded(url, PNG, { query: '?name=dot.png' });
    const { status, body } = await send(url, image(fileId));
    expect([status, body.stopReason]).to.deep.equal([200, 'end']);
    expect(body.message.content[0].text).to.equal(
      `dot.png image/png ${PNG.length} ${PNG.length} ${PNG.length} 3\n`,
    );
    const { body: history } = await get(`${url}/history?sessionId=main`, as('alice'));
    expect(history.messages[0].content).to.deep.equal([
      { type: 'image', mediaType: 'image/png', fileId, name: 'dot.png' },
    ]);
  });

  it('that is not there is refused, naming the field, and starts nothing', async () => {
    const { url } = await start();
    const { fileId } = await uploaded(url, PNG);
    for (const [params, path] of [
      [{ message: image('file_none') }, 'message.content.0.fileId'],
      [{ message: { content: [...image(fileId), ...image('../x')] } }, 'message.content.1.fileId'],
      [{ messages: ['hello', { content: image('file_none') }] }, 'messages.1.content.0.fileId'],
    ] as const) {
      const { status, body } = await post(`${url}/send`, { sessionId: 'main', ...params }, as('alice'));
      expect([status, body.error.code, body.error.details[0].path]).to.deep.equal([
        404,
        'FILE_NOT_FOUND',
        path,
      ]);
    }
    expect((await get(`${url}/status?sessionId=main`, as('alice'))).status).to.equal(404);
  });

  it('names it in one way', async () => {
    const { url } = await start();
    const { fileId } = await uploaded(url, PNG);
    for (const more of [{ url: 'https://x.test/y.png' }, { data: 'AAAA' }]) {
      const { status, body } = await send(url, [{ ...image(fileId)[0], ...more }]);
      expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(body.error.details[0].path).to.equal('message.content.0.fileId');
    }
    const inline = { type: 'image', mediaType: 'image/png', data: Buffer.from(PNG).toString('base64') };
    expect((await send(url, [inline])).status).to.equal(200);
  });

  it('names no more files than it may', async () => {
    const { url } = await start({ limits: { filesPerSend: 2 } });
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c']) ids.push((await uploaded(url, text)).fileId);
    expect((await send(url, [...image(ids[0]!), ...image(ids[0]!), ...image(ids[1]!)])).status).to.equal(200);
    const { status, body } = await send(url, ids.flatMap(image));
    expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
  });

  it('is answered under its key as before, whatever became of the file', async () => {
    const files = memoryFiles();
    const { url } = await start({ files });
    const { fileId } = await uploaded(url, PNG);
    const keyed = () => send(url, image(fileId), 'alice', { idempotencyKey: 'k' });
    const first = await keyed();
    await files.delete(JSON.stringify([null, 'alice']), fileId);
    expect(await statusOf(url, fileId)).to.equal(404);
    expect((await keyed()).body).to.deep.equal(first.body);
    expect((await send(url, image(fileId))).status).to.equal(404);
  });

  it('gives an app no more of it in memory than it may have', async () => {
    const { url } = await start({ limits: { inlineFileBytes: 100 } });
    const { fileId } = await uploaded(url, new Uint8Array(101).fill(65));
    const { body } = await send(url, [{ type: 'file', mediaType: 'a/b', fileId }]);
    expect(body.stopReason).to.equal('error');
    expect(body.error.code).to.equal('PAYLOAD_TOO_LARGE');
  });
});

describe('a file of another scope', () => {
  it('is 404 on every door, like one that does not exist', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url, gateway } = await start({ socketPath });
    const { fileId } = await uploaded(url, PNG);
    expect(await statusOf(url, fileId)).to.equal(200);

    // Reading it.
    const strange = await get(`${url}/files/${fileId}`, as('bob'));
    const missing = await get(`${url}/files/file_none`, as('bob'));
    expect([strange.status, strange.body.error.code]).to.deep.equal([404, 'FILE_NOT_FOUND']);
    const said = ({ body }: typeof missing): string => JSON.stringify({ ...body.error, requestId: null });
    expect(said(strange).replaceAll(fileId, 'file_none')).to.equal(said(missing));
    const head = await fetch(`${url}/files/${fileId}`, { method: 'HEAD', headers: as('bob') });
    expect(head.status).to.equal(404);
    const range = { ...as('bob'), range: 'bytes=0-0', 'if-none-match': '*' };
    expect((await fetch(`${url}/files/${fileId}`, { headers: range })).status).to.equal(404);
    const fetched = await gateway.fetch(new Request(`${url}/files/${fileId}`, { headers: as('bob') }));
    expect(fetched.status).to.equal(404);
    const tenant = await get(`${url}/files/${fileId}`, as('acme/alice'));
    expect(tenant.status).to.equal(404);

    // Naming it.
    expect((await send(url, image(fileId), 'bob')).body.error.code).to.equal('FILE_NOT_FOUND');
    const params = { sessionId: 'main', message: image(fileId) };
    for (const open of [() => openWebSocket(url), () => openUnixSocket(socketPath)]) {
      const socket = await open();
      await socket.connect({ token: 'bob' });
      const answer = await socket.ask('1', 'send', params);
      expect([answer.ok, answer.error.code]).to.deep.equal([false, 'FILE_NOT_FOUND']);
    }
    const transport = createInProcessTransport(gateway, { user: { id: 'bob' } });
    const client = connectClient('', { transport } as never);
    expect(await failure(client.send('main', image(fileId) as never).accepted)).to.include({
      code: 'FILE_NOT_FOUND',
    });
    const host = gateway.session('main', { user: { id: 'bob' } });
    expect(await failure(host.send(image(fileId) as never).accepted)).to.include({ code: 'FILE_NOT_FOUND' });

    // By the app.
    const asked = await send(url, fileId, 'bob');
    expect(asked.body.stopReason).to.equal('error');
    expect(asked.body.error.code).to.equal('FILE_NOT_FOUND');
    expect((await send(url, fileId)).body.stopReason).to.equal('end');
  });

  it('is another file with the same bytes', async () => {
    const { url } = await start();
    const mine = await uploaded(url, PNG);
    const yours = await uploaded(url, PNG, { user: 'bob' });
    expect(mine.fileId).to.not.equal(yours.fileId);
    expect(await statusOf(url, mine.fileId, 'bob')).to.equal(404);
  });
});

describe('a file in a scope that users share', () => {
  it('is theirs who uploaded it, and theirs who may read a session that names it', async () => {
    const { url } = await start({
      sessionScope: 'global',
      // The session `main` is for all but carol.
      sessionAccess: (user, { name }) => user.id !== 'carol' || name !== 'main',
    });
    const { fileId } = await uploaded(url, PNG);
    expect(await statusOf(url, fileId)).to.equal(200);
    expect(await statusOf(url, fileId, 'bob')).to.equal(404);
    expect((await send(url, image(fileId), 'bob')).status).to.equal(404);
    expect((await send(url, image(fileId))).status).to.equal(200);
    expect(await statusOf(url, fileId, 'bob')).to.equal(200);
    expect((await send(url, image(fileId), 'bob')).status).to.equal(200);
    expect(await statusOf(url, fileId, 'carol')).to.equal(404);
    const others = await send(url, image(fileId), 'carol', { sessionId: 'other' });
    expect([others.status, others.body.error.code]).to.deep.equal([404, 'FILE_NOT_FOUND']);
  });
});

describe('a file that a session names', () => {
  const soon = { unnamedFileMs: 200 };
  const gone = async (url: string, fileId: string): Promise<void> => {
    while ((await statusOf(url, fileId)) !== 404) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  /** A sweep of the former time that is not over takes it for old, which is 503. */
  const aSweepLater = async (url: string): Promise<{ readonly fileId: string }> => {
    for (;;) {
      const kept = await uploaded(url, 'a sweep later').catch(() => null);
      if (kept) return kept;
    }
  };

  for (const [name, stores] of [
    ['in memory', () => ({})],
    ['beside SQLite', () => ({ store: sqliteStore({ path: newDatabase() }) })],
  ] as const) {
    it(`goes with the last session that names it, and one that nobody names before (${name})`, async () => {
      const pass = holdWallClock();
      const { url, gateway } = await start({ limits: soon, ...stores() });
      const [kept, unnamed] = [await uploaded(url, PNG), await uploaded(url, 'nobody')];
      await send(url, image(kept.fileId), 'alice', { sessionId: 'one' });
      await send(url, image(kept.fileId), 'alice', { sessionId: 'two' });
      pass(60_000);
      await gone(url, unnamed.fileId);
      pass(-60_000);
      expect(await statusOf(url, kept.fileId)).to.equal(200);
      let context!: PluginContext;
      gateway.use({
        name: 'test',
        setup: (given) => {
          context = given;
        },
      });
      const alice = personOf('alice');
      const discard = (id: string) => context.session(id, alice).discard();
      await discard('one');
      const marker = await aSweepLater(url);
      pass(60_000);
      await gone(url, marker.fileId);
      expect(await statusOf(url, kept.fileId)).to.equal(200);
      await discard('two');
      await gone(url, kept.fileId);
      expect((await send(url, image(kept.fileId))).status).to.equal(404);
    });
  }

  it('outlives restarts, as long as the session does', async () => {
    const pass = holdWallClock();
    const path = newDatabase();
    const first = await start({ store: sqliteStore({ path }), limits: soon });
    const [kept, unnamed] = [await uploaded(first.url, PNG), await uploaded(first.url, 'nobody')];
    await send(first.url, image(kept.fileId));
    await first.gateway.close();
    const second = await start({ store: sqliteStore({ path }), limits: soon });
    pass(60_000);
    await gone(second.url, unnamed.fileId);
    expect(await statusOf(second.url, kept.fileId)).to.equal(200);
    expect((await send(second.url, kept.fileId)).body.stopReason).to.equal('end');
  });
});
