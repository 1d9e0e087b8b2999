import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Message } from '../../shared/messages.js';
import { testGateway } from '../../testing/index.js';
import { connectClient } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { holdTimers } from '../support/held-timers.js';
import { MemoryHub } from '../support/memory-hub.js';
import { overriding } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const textsOf = ({ content }: Message): string[] =>
  content.map((block) => (block.type === 'text' ? block.text : block.type));
const RESPOND_ASYNC = { prefer: 'respond-async' };

describe('turn.sleep', () => {
  const laps: string[] = [];
  const sleeper = defineApp({
    resumable: true,
    async *run(turn) {
      laps.push(turn.resumed ? 'resumed' : 'began');
      yield turn.resumed ? '' : 'before ';
      const until = await turn.step('when', () => Date.now() + Number(turn.text));
      await turn.sleep('nap', new Date(until));
      laps.push('slept');
      yield `after ${Date.now() >= until}`;
    },
  });

  beforeEach(() => laps.splice(0));

  it('waits, while the time of the run stands still', async () => {
    const { url } = await startGateway({ app: sleeper, limits: { runMs: 100 } });
    const { text, stopReason } = await connectClient(url)
      .send('main', '150')
      .result.then(({ message, stopReason }) => ({ text: message.content, stopReason }));
    expect({ text, stopReason }).to.deep.equal({
      text: [{ type: 'text', text: 'before after true' }],
      stopReason: 'end',
    });
    expect(laps).to.deep.equal(['began', 'slept']);
  });

  it('leaves memory while nobody follows it, and goes on when it is time', async () => {
    const { gateway, url } = await startGateway({ app: sleeper, limits: { parkMs: 20 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: '400' }, RESPOND_ASYNC);
    await until(() => gateway.stats().sessions.held === 0);
    expect(laps).to.deep.equal(['began']);
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({
      status: 'running',
      runId: body.runId,
    });
    const { message, stopReason } = await connectClient(url).session('main').run(body.runId).result;
    expect([textsOf(message), stopReason]).to.deep.equal([['before ', 'after true'], 'end']);
    expect(laps).to.deep.equal(['began', 'resumed', 'slept']);
  });

  it('is left alone by the next process until it is time', async () => {
    const path = newDatabase();
    const config = { app: sleeper, limits: { parkMs: 20 } };
    const first = await startGateway({ ...config, store: sqliteStore({ path }) });
    const { body } = await post(`${first.url}/send`, { sessionId: 'main', message: '900' }, RESPOND_ASYNC);
    await until(() => first.gateway.stats().sessions.held === 0);
    await first.gateway.close();
    const store = sqliteStore({ path });
    const { gateway, url } = await startGateway({ ...config, store });
    await get(`${url}/sessions`);
    expect(await store.unfinished()).to.deep.equal([]);
    expect(gateway.stats().sessions.held).to.equal(0);
    expect(laps).to.deep.equal(['began']);
    const { message } = await connectClient(url).session('main').run(body.runId).result;
    expect(textsOf(message)).to.deep.equal(['before ', 'after true']);
    expect(laps).to.deep.equal(['began', 'resumed', 'slept']);
    expect(
      await store.records({
        home: { scope: '[null,"token"]', app: 'default', name: 'main' },
        kind: 'waking',
        limit: 9,
      }),
    ).to.deep.equal([]);
  });

  it('leaves memory while it waits for a person, and goes on with the answer', async () => {
    const app = defineApp({
      resumable: true,
      async *run(turn) {
        laps.push(turn.resumed ? 'resumed' : 'began');
        const { color } = (await turn.ask({ name: 'color' })) as { color: string };
        yield `It is ${color}`;
      },
    });
    const { gateway, url } = await startGateway({ app, limits: { parkMs: 20 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, RESPOND_ASYNC);
    await until(() => gateway.stats().sessions.held === 0);
    const main = connectClient(url).session('main');
    const { pending } = await main.state();
    expect(pending).to.have.length(1);
    await main.respond(pending[0]!, { output: { color: 'red' } });
    const { message } = await main.run(body.runId).result;
    expect(textsOf(message)).to.deep.equal(['It is red']);
    expect(laps).to.deep.equal(['began', 'resumed']);
  });

  it('is woken by the store’s clock, where this process has another', async () => {
    const dueAt: number[] = [];
    const skewMs = -3_600_000;
    for (const time of [() => 60_000, () => new Date(Date.now() + 60_000)]) {
      const { store } = new MemoryHub().node();
      const skewed = overriding(store, {
        shared: overriding(store.shared!, { skewMs }),
        append: (log, events, options) => {
          for (const { kind, dueAt: at } of options.records ?? []) if (kind === 'waking') dueAt.push(at!);
          return store.append(log, events, options);
        },
      });
      const app = defineApp({ resumable: true, run: (turn) => turn.sleep('nap', time()) });
      const { url } = await startGateway({ app, store: skewed, limits: { parkMs: 10 } });
      const from = Date.now() + skewMs;
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, RESPOND_ASYNC);
      await until(() => dueAt.length > 0);
      expect(dueAt.pop()).to.be.within(from + 60_000, Date.now() + skewMs + 60_000);
    }
  });

  it('stays in memory while a tool is at work beside what waits for a person', async () => {
    const done = gate();
    const app = defineApp({
      resumable: true,
      tools: {
        research: tool({
          handler: async (_input: unknown, { signal }) => {
            laps.push('research begins');
            await done.passed;
            laps.push(signal.aborted ? 'research was stopped' : 'research ends');
            return 'found';
          },
        }),
        pay: tool({ confirm: true, handler: () => 'paid' }),
      },
      async run(turn) {
        laps.push(turn.resumed ? 'resumed' : 'began');
        return String(await Promise.all([turn.callTool('research', {}), turn.callTool('pay', {})]));
      },
    });
    const timers = holdTimers();
    const { gateway, url } = await startGateway({ app, limits: { parkMs: 5000 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, RESPOND_ASYNC);
    const main = connectClient(url).session('main');
    const { pending } = await main.state();
    for (let looks = 0; looks < 3; looks++) {
      timers.clock.tick(5001);
      await get(`${url}/healthz`);
    }
    expect(gateway.stats().sessions.held).to.equal(1);
    done.open();
    // Nothing but the question is left.
    for (let looks = 0; looks < 100 && gateway.stats().sessions.held > 0; looks++) {
      timers.clock.tick(5001);
      await get(`${url}/healthz`);
    }
    expect(gateway.stats().sessions.held).to.equal(0);
    await main.respond(pending[0]!.callId, { approved: true });
    const { message } = await main.run(body.runId).result;
    expect(textsOf(message)).to.include('found,paid');
    expect(laps.slice(0, 4)).to.deep.equal(['began', 'research begins', 'research ends', 'resumed']);
  });

  it('goes on in the next process where the one that it woke up in is killed', async () => {
    const woken: string[] = [];
    const app = defineApp({
      resumable: true,
      async run(turn) {
        await turn.sleep('nap', 150);
        woken.push(turn.resumed ? 'resumed' : 'began');
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      },
    });
    const gateway = closeLater(await testGateway({ app, limits: { parkMs: 20 } }), (it) => it.close());
    const session = gateway.gateway.session('main', { user: { id: 'ada' } });
    await session.send('hi').accepted;
    await until(() => gateway.gateway.stats().sessions.held === 0);
    await until(() => woken.length === 1);
    await gateway.kill();
    // Nobody asks for it: it is among what was left unfinished.
    await until(() => woken.length === 2);
    expect(woken).to.deep.equal(['resumed', 'resumed']);
  });

  it('is ended like any other run, wherever it sleeps', async () => {
    const { url } = await startGateway({ app: sleeper, limits: { parkMs: 20 } });
    const client = connectClient(url);
    const run = client.send('main', '60000');
    await run.accepted;
    expect(await client.abort('main')).to.deep.equal({ aborted: true });
    expect((await run.result).stopReason).to.equal('aborted');
    expect(laps).to.deep.equal(['began']);
  });

  for (const time of [-1, Number.NaN, new Date(Number.NaN), Number.POSITIVE_INFINITY]) {
    it(`refuses ${time}`, async () => {
      const app = defineApp({
        async run(turn) {
          await turn.sleep('nap', time);
        },
      });
      const { url } = await startGateway({ app });
      const { error } = (await connectClient(url).send('main', 'hi').result) as any;
      expect(error).to.include({ code: 'INVALID_PARAMS' });
    });
  }
});
