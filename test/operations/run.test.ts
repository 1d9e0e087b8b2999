import { expect } from 'chai';
import { defineApp, type Store } from '../../server/index.js';
import type { SessionRecord } from '../../server/stores/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { RunResult } from '../../shared/operation-types.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';
import { until } from '../support/until.js';

const respondAsync = { prefer: 'respond-async' };

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`a run, by its id (${name})`, () => {
    async function setUp(store: Store = make()) {
      const word = gate<string>();
      const app = defineApp({
        async *run({ text, ask }) {
          if (text === 'ask') yield String(await ask({ name: 'colour' }));
          else yield text === 'wait' ? await word.passed : `echo ${text}`;
        },
      });
      const started = await startGateway({ app, store, limits: { drainMs: 0 } });
      const send = async (message: string, sessionId = 'main'): Promise<any> =>
        (await post(`${started.url}/send`, { sessionId, message }, respondAsync)).body;
      const run = (runId: string, sessionId = 'main'): ReturnType<typeof get> =>
        get(`${started.url}/run?${new URLSearchParams({ sessionId, runId })}`);
      return { ...started, word, send, run };
    }

    it('says what it is doing, and how it ended', async () => {
      const { gateway, word, send, run } = await setUp();
      const first = await send('wait');
      const second = await send('two');
      const { body: running } = await run(first.runId);
      const { runId, cursor } = first;
      expect(running).to.deep.equal({ runId, sessionId: 'main', state: 'running', cursor });
      expect((await run(second.runId)).body).to.include({
        state: 'queued',
        cursor: second.cursor,
      });
      word.open('done');
      const result = await gateway.session('main').run(runId).result;
      const { body: ended } = await run(runId);
      expect(ended).to.deep.equal({ ...running, state: 'ended', result });
      expect(result).to.deep.include({ runId, stopReason: 'end' });
      expect(result.message.content).to.deep.equal([{ type: 'text', text: 'done' }]);
    });

    it('waits for a person', async () => {
      const { gateway, send, run } = await setUp();
      const { runId } = await send('ask');
      for await (const { type } of gateway.session('main').run(runId)) if (type === 'input_required') break;
      expect((await run(runId)).body.state).to.equal('waiting');
    });

    it('is found after its conversation was closed and another one began', async () => {
      const { gateway, url, send, run } = await setUp();
      const { runId, cursor } = await send('one');
      const session = gateway.session('main');
      await session.run(runId).result;
      await post(`${url}/close`, { sessionId: 'main' });
      await session.send('two').result;
      const { body } = await run(runId);
      expect(body).to.include({ state: 'ended', sessionId: 'main', cursor });
      const types = [];
      for await (const { type } of session.run(runId)) types.push(type);
      expect(types[0]).to.equal('message_accepted');
      expect(types.at(-1)).to.equal('message_end');
    });

    it('has the same result once its events are cut and its conversation is closed, and stores no answer twice', async () => {
      const store = make();
      const app = defineApp({
        async *run({ text }) {
          if (text === 'nothing') return;
          yield `echo ${text}`;
          if (text === 'fail') throw new Error('no');
        },
      });
      const { gateway, url } = await startGateway({ app, store, limits: { retention: { events: 4 } } });
      const session = gateway.session('main');
      const first: RunResult[] = [];
      for (const text of ['one', 'fail', 'nothing']) first.push(await session.send(text).result);
      first.push(await session.send('beside', { lane: 'new', keep: false }).result);
      first.push(await session.send('more').result);
      const read = () => Promise.all(first.map(({ runId }) => session.run(runId).result));
      expect(await read(), 'soon').to.deep.equal(first);
      for (let i = 0; i < 4; i++) await session.send(`later ${i}`).result;
      await until(async () => (await get(`${url}/status?sessionId=main`)).body.first > 20);
      expect(await read(), 'after a cut').to.deep.equal(first);
      await post(`${url}/close`, { sessionId: 'main' });
      expect(await read(), 'after the close').to.deep.equal(first);
      await session.send('anew').result;
      expect(await read(), 'in the next conversation').to.deep.equal(first);
      const [{ ref }] = (await store.list('[null,"token"]', { limit: 1 })).records as [SessionRecord];
      const kept = await Promise.all(first.map(({ runId }) => store.run(ref, { runId })));
      const contents = kept.map((run) => run!.result!.message.content);
      expect(contents).to.deep.equal([undefined, undefined, [], first[3]!.message.content, undefined]);
    });

    it('is unknown where there is none, and in the scope of another user or without a session', async () => {
      const { gateway, send, run } = await setUp();
      const { runId } = await send('one');
      for (const [asked, sessionId] of [
        ['run_none', 'main'],
        [runId, 'other'],
      ] as const) {
        const { status, body } = await run(asked, sessionId);
        expect([status, body.error.code]).to.deep.equal([404, 'RUN_NOT_FOUND']);
      }
      const other = gateway.execute('run', { sessionId: 'main', runId }, { user: { id: 'mallory' } });
      expect(await other.catch(({ code }) => code)).to.equal('RUN_NOT_FOUND');
      const missing = gateway.session('main').run('run_none');
      expect(await missing.result.catch(({ code }) => code)).to.equal('RUN_NOT_FOUND');
    });

    it('is refused like one of a session that is not there where a host says no', async () => {
      const store = make();
      const seen = await setUp(store);
      const { runId } = await seen.send('one');
      await seen.gateway.session('main').run(runId).result;
      const app = defineApp({ run: () => 'x' });
      const { url } = await startGateway({ app, store, sessionAccess: () => false });
      const named = await get(`${url}/run?runId=${runId}&sessionId=main`);
      expect(named.body.error.code).to.equal('SESSION_NOT_FOUND');
    });

    it('is followed from a gateway that does not run it, to the end that is stored', async () => {
      const store = make();
      const here = await setUp(store);
      const there = await setUp(store);
      const { runId } = await here.send('wait');
      const run = there.gateway.session('main').run(runId);
      const texts: string[] = [];
      const read = (async () => {
        for await (const event of run) if (event.type === 'content_delta') texts.push(event.delta);
      })();
      expect((await run.status()).state).to.equal('running');
      here.word.open('from here');
      const { message, stopReason } = await run.result;
      expect([stopReason, message.content]).to.deep.equal(['end', [{ type: 'text', text: 'from here' }]]);
      await read;
      expect(texts).to.deep.equal(['from here']);
      const all: GatewayEvent[] = [];
      for await (const event of run.events()) all.push(event);
      const later: GatewayEvent[] = [];
      for await (const event of run.events(all[1]!.cursor)) later.push(event);
      expect(later, 'after a cursor').to.deep.equal(all.slice(2));
    });

    it('has the result of whoever ended it, also for those who waited where it was begun', async () => {
      const store = make();
      const here = await setUp(store);
      const there = await setUp(store);
      const { runId } = await here.send('wait');
      const waiting = post(`${here.url}/send`, { sessionId: 'main', message: 'wait' });
      for await (const event of here.gateway.session('main').events({ from: 'earliest' }))
        if (event.type === 'message_accepted' && event.runId !== runId) break;
      // Takes the session: what ran there is lost, what was queued goes on here.
      await there.gateway.session('main').send('mine').accepted;
      here.word.open('too late');
      there.word.open('in time');
      expect((await there.gateway.session('main').run(runId).result).stopReason).to.equal('lost');
      expect((await here.gateway.session('main').run(runId).result).stopReason).to.equal('lost');
      const { body: answered } = await waiting;
      expect(answered).to.include({ stopReason: 'end' });
      expect(answered.message.content).to.deep.equal([{ type: 'text', text: 'in time' }]);
    });
  });
}
