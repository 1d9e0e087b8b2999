import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { type Application, defineApp, memoryStore, type Store, tool } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { textOf } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { gate } from '../support/gate.js';
import { jsonHeaders, post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { echo, type Node, sides, startNode, startNodes, waiting } from '../support/nodes.js';
import { overriding, passing } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

/** Long enough that nothing in these tests comes about by its end. */
const LONG = 600_000;

/** How a call is lost: it is made and not answered, or it is not made. */
type Loss = 'answer' | 'call';

/** A store of which a test loses calls, each as often as it says. */
function losing(inner: Store) {
  const losses = new Map<string, { readonly what: Loss; left: number }>();
  const lost: string[] = [];
  const pass = async (name: string, call: () => unknown): Promise<unknown> => {
    const loss = losses.get(name);
    if (!loss || loss.left === 0) return call();
    loss.left -= 1;
    lost.push(name);
    if (loss.what === 'call') throw new StoreError('UNAVAILABLE', 'It was not reached');
    await call();
    throw new StoreError('UNKNOWN', 'It did not say');
  };
  // What is watched is watched at once.
  const store = passing(inner, (name, call) => (name === 'watch' ? call() : pass(name, call)));
  const lose = (name: keyof Store, what: Loss, times = 1): void =>
    void losses.set(name, { what, left: times });
  return { store, lose, lost };
}

/** A gateway whose calls can be lost, and one beside it. */
async function twoOf(app: Application, leaseMs = LONG) {
  const hub = new MemoryHub({ leaseMs });
  let faults!: ReturnType<typeof losing>;
  const store = (own: Store): Store => {
    faults = losing(own);
    return faults.store;
  };
  const first = await startNode(hub, { app, store });
  return { hub, first, second: await startNode(hub, { app }), ...faults };
}

const held = ({ gateway }: Node): number => gateway.stats().sessions.held;

describe('a gateway that is not told whether it holds a session', () => {
  for (const what of ['answer', 'call'] as const)
    it(`finds out, where the ${what} of taking it was lost, though nobody asks it`, async () => {
      const { hub, first, second, lose, lost } = await twoOf(echo);
      lose('acquire', what, 2);
      const { status } = await post(`${first.url}/send`, { sessionId: 'main', message: 'x' });
      expect(status).to.equal(503);
      await until(
        () => held(first) === (hub.holderOf('main') === first.node.holder ? 1 : 0) && lost.length === 2,
      );
      expect((await second.client.send('main', 'hello').result).stopReason).to.equal('end');
    });

  for (const what of ['answer', 'call'] as const)
    it(`finds out, where the ${what} of giving it up was lost`, async () => {
      const clock = FakeTimers.install({ toFake: ['setInterval', 'clearInterval', 'performance'] });
      closeLater(clock, (it) => it.uninstall());
      const { hub, first, second, lose, lost } = await twoOf(echo);
      await first.gateway.session('main').send('hello').result;
      lose('release', what);
      // It is given up when nobody has used it for a minute.
      for (let i = 0; i < 4 && lost.length === 0; i++) {
        clock.tick(31_000);
        await new Promise(setImmediate);
      }
      await until(() => lost.length === 1);
      await until(() => held(first) === (hub.holderOf('main') === first.node.holder ? 1 : 0));
      expect((await second.gateway.session('main').send('again').result).stopReason).to.equal('end');
    });

  for (const what of ['answer', 'call'] as const)
    it(`ends what another one left in it and runs what waited, where the ${what} of taking it over was lost`, async () => {
      const { app } = waiting();
      const hub = new MemoryHub({ leaseMs: 300 });
      const dying = await startNode(hub, { app });
      await dying.client.send('main', 'wait').accepted;
      const next = await dying.client.send('main', 'next').accepted;
      let faults!: ReturnType<typeof losing>;
      const survivor = await startNode(hub, {
        app,
        store: (own) => {
          faults = losing(own);
          return faults.store;
        },
      });
      faults.lose('acquire', what, 2);
      dying.node.kill();
      await until(() => faults.lost.length > 0);
      const { message } = await survivor.gateway.session('main').run(next.runId).result;
      expect(textOf(message!)).to.equal('begun, done');
    });

  for (const member of ['acquire', 'read', 'checkpoint'] as const)
    it(`ends what a former process left in it, where its ${member} failed at the start`, async () => {
      const inner = memoryStore();
      const { app } = waiting();
      const former = embedGateway({ app, store: inner });
      const { runId } = await former.session('main').send('wait').accepted;
      const { store, lose, lost } = losing(inner);
      lose(member, 'call');
      const gateway = embedGateway({ app, store });
      await gateway.session('other').history();
      await until(async () => (await inner.unfinished()).length === 0);
      expect(lost).to.deep.equal([member]);
      expect((await gateway.session('main').run(runId).result).stopReason).to.equal('lost');
    });
});

describe('a holder that has heard and does not answer', () => {
  it('may have done what it was asked: the sender is told so', async () => {
    const hub = new MemoryHub();
    const nodes = await startNodes(hub, { app: echo }, 2);
    await nodes[0]!.client.send('main', 'one').result;
    const { holder, other } = sides(hub, nodes);
    // Whatever it says is lost.
    hub.mail = (from) => (from === holder.node.holder ? 'lose' : 'come');
    const { status, body } = await post(`${other.url}/send`, { sessionId: 'main', message: 'pay' });
    expect([status, body.error.details?.outcome]).to.deep.equal([503, 'unknown']);
    const { messages } = await holder.client.session('main').history();
    expect(messages.filter((message) => textOf(message) === 'pay')).to.have.length(1);
  });
});

describe('a gateway that drains', () => {
  it('takes nothing back that it handed over: what people answer there is done by who goes on with it', async () => {
    const paid: string[] = [];
    const appOf = (name: string): Application =>
      defineApp({
        resumable: true,
        tools: {
          pay: tool({
            confirm: true,
            handler: (_, { session }) => void paid.push(`${session.id} at ${name}`),
          }),
        },
        async *run(turn) {
          if (turn.text === 'work') return void (await door.passed);
          await turn.callTool('pay', {});
          yield 'paid';
        },
      });
    const door = gate();
    const hub = new MemoryHub({ leaseMs: LONG });
    const first = await startNode(hub, { app: appOf('first'), limits: { drainMs: 20_000 } });
    // It takes what it is handed only once people have answered at the first.
    const taking = gate();
    const second = await startNode(hub, {
      app: appOf('second'),
      store: (own) =>
        overriding(own, {
          async acquire(...given) {
            await taking.passed;
            return own.acquire(...given);
          },
        }),
    });
    // So that it goes on draining.
    await first.client.send('busy', 'work').accepted;
    const names = Array.from({ length: 6 }, (_, i) => `s${i}`);
    const runs = await Promise.all(
      names.map(async (name) => ({ name, ...(await first.client.send(name, 'go').accepted) })),
    );
    const callOf = async (name: string): Promise<string> => {
      for (;;) {
        const { pending } = await first.client.session(name).state();
        if (pending[0]) return pending[0].callId;
        await new Promise(setImmediate);
      }
    };
    const calls = await Promise.all(names.map(callOf));
    const closed = first.gateway.close();
    await until(() => names.every((name) => hub.holderOf(name) === ''));
    // Nothing else is said from here on but what is asked.
    let questions = 0;
    hub.mail = (from) => {
      if (from === first.node.holder) questions += 1;
      return 'come';
    };
    // It takes no more connections, but what comes over those that it has.
    const answers = names.map((sessionId, i) =>
      first.gateway.fetch(
        new Request(`${first.url}/tool-response`, {
          method: 'POST',
          headers: jsonHeaders(),
          body: JSON.stringify({ sessionId, callId: calls[i]!, approved: true }),
        }),
      ),
    );
    await until(() => questions + paid.length >= names.length);
    taking.open();
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal(names.map(() => 200));
    for (const { name, runId } of runs)
      expect((await second.client.session(name).run(runId).result).stopReason).to.equal('end');
    expect(paid.sort()).to.deep.equal(names.map((name) => `${name} at second`));
    door.open();
    await closed;
  });
});
