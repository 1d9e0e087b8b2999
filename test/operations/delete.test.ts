import { expect } from 'chai';
import { defineApp, type Store } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream, type RawEvent } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const PLANTED = 'the-secret-of-the-session';
const respondAsync = { prefer: 'respond-async' };
const isEnd = ({ event }: RawEvent): boolean => event === 'session_closed';

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`delete (${name})`, () => {
    async function setUp(store: Store = make(), limits = {}) {
      const held = gate<string>();
      const late = gate<void>();
      const app = defineApp({
        async *run(turn) {
          if (turn.text !== 'wait') yield `echo ${turn.text}`;
          else {
            yield 'half ';
            // Whoever does not look at its signal.
            void held.passed.then(async () => {
              const tries = [
                () => turn.publish('news', PLANTED),
                () => turn.emit('noticed', PLANTED),
                () => turn.data('late', PLANTED),
                () => turn.step('late', async () => PLANTED),
              ];
              for (const attempt of tries)
                await Promise.resolve()
                  .then(attempt)
                  .catch(() => {});
              late.open();
            });
            yield await held.passed;
          }
        },
      });
      const started = await startGateway({ app, store, limits: { drainMs: 0, ...limits } });
      const { url } = started;
      const ask = (operation: string, body: object) =>
        post(`${url}/${operation}`, { sessionId: 'main', ...body });
      const send = (message: string, more: object = {}) =>
        post(`${url}/send`, { sessionId: 'main', message, ...more }, respondAsync);
      const follow = (query = 'from=earliest') =>
        openStream(`${url}/events?sessionId=main&token=${TOKEN}&${query}`);
      return { ...started, app, held, late, ask, send, follow };
    }

    it('ends what runs and waits, tells every follower, and leaves nothing', async () => {
      const { url, gateway, ask, send, follow } = await setUp();
      expect((await ask('send', { message: PLANTED })).status).to.equal(200);
      await ask('close', {});
      const running = await send('wait', { idempotencyKey: 'k', metadata: { note: PLANTED } });
      const waiting = await send(PLANTED, { idempotencyKey: 'k2' });
      const stream = await follow();
      const socket = await openWebSocket(url);
      await socket.connect({ subscribe: [{ sessionId: 'main' }] });
      await stream.until(({ event }) => event === 'content_delta');
      const result = gateway.session('main').run(running.body.runId).result;

      expect((await ask('delete', {})).body).to.deep.equal({ ok: true });

      const closed = await stream.until(isEnd);
      expect(closed.data).to.include({ sessionId: 'main', reason: 'deleted' });
      expect(await socket.event('session_closed')).to.include({ reason: 'deleted' });
      const ends = stream.events.filter(({ event }) => event === 'message_end');
      expect(ends.slice(-2).map(({ data }) => [data.runId, data.stopReason])).to.have.deep.members([
        [running.body.runId, 'aborted'],
        [waiting.body.runId, 'aborted'],
      ]);
      expect(await result).to.include({ stopReason: 'aborted' });

      expect((await ask('delete', {})).body.error.code).to.equal('SESSION_NOT_FOUND');
      for (const path of ['history', 'status', 'export'])
        expect((await get(`${url}/${path}?sessionId=main`)).status, path).to.equal(404);
      expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
      for (const { runId } of [running.body, waiting.body])
        expect((await get(`${url}/run?sessionId=main&runId=${runId}`)).body.error.code).to.equal(
          'RUN_NOT_FOUND',
        );
      // The key means nothing any more: with another message it is no conflict.
      const anew = await ask('send', { message: 'hello', idempotencyKey: 'k' });
      expect(anew.status).to.equal(200);
      const { body } = await get(`${url}/history?sessionId=main`);
      expect(body.messages.map(({ content }: any) => content[0].text)).to.deep.equal(['hello', 'echo hello']);
    });

    it('tells who comes back with a cursor that it is gone, and why', async () => {
      const { ask, follow } = await setUp();
      await ask('send', { message: PLANTED });
      const before = await follow();
      const { id } = await before.until(({ event }) => event === 'message_end');
      const early = before.logged[1]!.id;
      await ask('delete', {});
      for (const cursor of [id, early]) {
        const stream = await follow(`lastEventId=${cursor}`);
        const { data } = await stream.until(isEnd);
        expect(data.reason).to.equal('deleted');
        const types = stream.events.map(({ event }) => event).filter((type) => type !== 'heartbeat');
        expect(types).to.deep.equal(['connected', 'gap', 'snapshot', 'session_closed']);
        const [, gap, snapshot] = stream.events.filter(({ event }) => event !== 'heartbeat');
        expect(gap!.data).to.include({ reason: 'epoch', requested: cursor });
        expect(snapshot!.data.state).to.deep.include({ messages: [], tip: null });
      }
    });

    it('drops a closed session, and takes its followers to the end of it', async () => {
      const { gateway, url, ask, follow } = await setUp();
      const told: string[] = [];
      for (const type of ['session:created', 'session:closed'] as const)
        gateway.on(type, () => told.push(type));
      await ask('send', { message: PLANTED });
      const stream = await follow();
      await ask('close', {});
      await stream.until(({ event, data }) => event === 'session_closed' && data.reason === 'closed');
      expect((await ask('delete', {})).body).to.deep.equal({ ok: true });
      await stream.until(({ event, data }) => event === 'session_closed' && data.reason === 'deleted');
      const types = stream.events.map(({ event }) => event).filter((type) => type !== 'heartbeat');
      expect(types.slice(-4)).to.deep.equal(['session_closed', 'gap', 'snapshot', 'session_closed']);
      expect(told, 'once each').to.deep.equal(['session:created', 'session:closed']);
      expect((await ask('delete', {})).body.error.code).to.equal('SESSION_NOT_FOUND');
      await ask('send', { message: 'anew' });
      const fresh = await stream.until(({ event }) => event === 'message_end');
      expect(fresh).to.not.equal(undefined);
      expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
    });

    it('is heard of by those who follow it at another gateway of the store', async () => {
      const store = make();
      const [here, there] = [await setUp(store), await setUp(store)];
      await here.ask('send', { message: PLANTED });
      const stream = await there.follow();
      await stream.until(({ event }) => event === 'message_end');
      await here.ask('delete', {});
      expect((await stream.until(isEnd)).data.reason).to.equal('deleted');
      expect((await get(`${there.url}/history?sessionId=main`)).status).to.equal(404);
    });

    it('is heard of by those who wait at another gateway for how a run ends', async () => {
      const store = make();
      const [here, there] = [await setUp(store), await setUp(store)];
      const { body } = await here.send('wait');
      const waiting = there.gateway
        .session('main')
        .run(body.runId)
        .result.then(
          ({ stopReason }) => stopReason,
          ({ code }: { code: string }) => code,
        );
      // It follows by now.
      expect((await get(`${there.url}/run?sessionId=main&runId=${body.runId}`)).body.state).to.equal(
        'running',
      );
      await here.ask('delete', {});
      expect(await waiting).to.be.oneOf(['aborted', 'RUN_NOT_FOUND']);
    });

    it('is not undone by an app that goes on', async () => {
      const { url, gateway, held, late, ask, send, follow } = await setUp();
      await send('wait');
      const stream = await follow();
      await stream.until(({ event }) => event === 'content_delta');
      await ask('delete', {});
      held.open(PLANTED);
      await late.passed;
      await stream.until(isEnd);
      expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
      expect((await ask('delete', {})).body.error.code).to.equal('SESSION_NOT_FOUND');
      expect((await gateway.session('main').history()).messages).to.deep.equal([]);
    });

    it('happens once, however many ask for it at the same time, also beside a close and a send', async () => {
      const { url, ask } = await setUp();
      for (let round = 0; round < 10; round++) {
        await ask('send', { message: PLANTED });
        const asked = await Promise.all([
          ...['delete', 'delete', 'close', 'delete'].map((operation) => ask(operation, {})),
          ask('send', { message: 'beside' }),
        ]);
        const answers = asked.map(({ body }) => body.error?.code ?? 'ok');
        expect(answers.slice(0, 4)).to.include('ok');
        for (const code of answers) expect(['ok', 'SESSION_NOT_FOUND', 'SESSION_CLOSED']).to.include(code);
        const left = await get(`${url}/history?sessionId=main`);
        expect(JSON.stringify(left.body)).to.not.include(PLANTED);
        await ask('delete', {});
        expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
      }
    });

    it('asks the host, and reaches no session of somebody else', async () => {
      const { app } = await setUp();
      const asked: string[] = [];
      const { url } = await startGateway({
        app,
        auth: {
          type: 'custom',
          validate: async (token) => ({ valid: true, user: { id: token ?? 'nobody' } }),
        },
        sessionAccess: (user, _session, operation) => {
          asked.push(`${user.id} ${operation}`);
          return operation !== 'delete' || user.id !== 'carol';
        },
      });
      const as = (id: string) => ({ authorization: `Bearer ${id}` });
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('carol'));
      for (const id of ['carol', 'bob']) {
        const { status, body } = await post(`${url}/delete`, { sessionId: 'main' }, as(id));
        expect([status, body.error.code], id).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      }
      expect(asked).to.include.members(['carol delete', 'bob delete']);
      expect((await get(`${url}/history?sessionId=main`, as('carol'))).body.messages).to.have.length(2);
    });

    it('is there for hosts and over every socket', async () => {
      const { url, gateway, ask } = await setUp();
      await ask('send', { message: 'hi' });
      await gateway.session('main').delete();
      expect(await gateway.session('main').history()).to.deep.include({ messages: [] });
      await ask('send', { message: 'hi' });
      const socket = await openWebSocket(url);
      await socket.connect();
      expect(await socket.ask('1', 'delete', { sessionId: 'main' })).to.deep.include({
        ok: true,
        payload: { ok: true },
      });
      const again = await socket.ask('2', 'delete', { sessionId: 'main' });
      expect(again.error).to.include({ code: 'SESSION_NOT_FOUND' });
    });

    it('lets go of the files that only it named', async () => {
      const { url, ask } = await setUp(make(), { unnamedFileMs: 100 });
      const upload = await fetch(`${url}/files?name=a.txt`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
        body: PLANTED,
      });
      const { fileId } = (await upload.json()) as { fileId: string };
      await ask('send', {
        message: [
          { type: 'text', text: 'see' },
          { type: 'file', mediaType: 'text/plain', fileId },
        ],
      });
      await ask('delete', {});
      // Nothing tells of a sweep.
      for (let status = 200; status !== 404; await new Promise((resolve) => setTimeout(resolve, 20))) {
        const file = await fetch(`${url}/files/${fileId}`, { headers: { authorization: `Bearer ${TOKEN}` } });
        await file.arrayBuffer();
        ({ status } = file);
      }
    });
  });
}
