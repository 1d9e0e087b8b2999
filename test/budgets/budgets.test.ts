import { expect } from 'chai';
import {
  type createGateway,
  defineApp,
  type GatewayConfig,
  memoryStore,
  type SessionHandle,
  type Turn,
} from '../../server/index.js';
import type { Budget } from '../../shared/budgets/options.js';
import { isGatewayError } from '../../shared/errors.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { passing } from '../support/overriding.js';
import { until } from '../support/until.js';

const USD = { currency: 'USD' };

/** An app whose run makes as many calls of 0.25 USD and 10 tokens as its message says. */
const spends = (made: string[] = []) =>
  defineApp({
    async run(turn) {
      for (let call = 1; call <= Number(turn.text); call += 1) {
        made.push(`${turn.user?.id} ${call}`);
        await turn.usage({ model: 'm', inputTokens: 8, outputTokens: 2, cost: 0.25, ...USD });
      }
      return 'done';
    },
  });

const session = (budget: Partial<Budget>): Budget => ({
  ...{ name: 'b', per: 'session', period: 'ever', limit: { cost: 1 }, reached: 'stop' },
  ...budget,
});

async function gatewayOf(config: Partial<GatewayConfig<any, any, any>>) {
  const { gateway } = await startGateway({ app: spends(), ...config } as never);
  return gateway as ReturnType<typeof createGateway>;
}

const ann = { user: { id: 'ann', roles: [] as string[] } };
const bob = { user: { id: 'bob', roles: [] as string[] } };

/** The question that a session waits with. */
async function questionOf(session: SessionHandle) {
  for (;;) {
    for await (const event of session.events({ from: 'snapshot' }))
      if (event.type === 'snapshot') {
        if (event.state.pending.length > 0) return event.state.pending[0]!;
        break;
      } else if (event.type === 'tool_confirmation_required') return event;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The failure of a call, as its code and details. */
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => {
      if (isGatewayError(error)) return error;
      throw error;
    },
  );

describe('a budget', () => {
  it('that stops lets the call that crosses it pass, ends the run, and refuses the next message', async () => {
    const made: string[] = [];
    const gateway = await gatewayOf({ app: spends(made), budgets: [session({})] });
    const main = gateway.session('main', ann);
    expect((await main.send('2').result).stopReason).to.equal('end');
    const run = main.send('9');
    const { stopReason, usage } = await run.result;
    expect([stopReason, usage?.cost, made.length]).to.deep.equal(['budget', 0.5, 4]);
    const error = await refusal(main.send('1').accepted);
    expect([error?.code, error?.status]).to.deep.equal(['BUDGET_EXHAUSTED', 402]);
    expect(error?.details).to.deep.equal({
      budget: 'b',
      spent: { cost: 1, currency: 'USD' },
      limit: { cost: 1 },
      opensAt: null,
    });
    expect((await gateway.session('other', ann).send('1').result).stopReason).to.equal('end');
  });

  it('tells parts of its limit once, in the session that came to them', async () => {
    const gateway = await gatewayOf({
      budgets: [session({ per: 'person', at: [0.5, 0.8], reached: 'warn' })],
    });
    for (const name of ['one', 'two']) await (await gateway.session(name, ann).send('3')).result;
    const told: unknown[] = [];
    for (const name of ['one', 'two'])
      for await (const event of gateway.session(name, ann).events({ from: 'earliest' })) {
        if (event.type === 'budget_warned') told.push([name, event.at, event.spent.cost]);
        if (event.type === 'budget_reached') told.push([name, 1, event.spent.cost]);
        if (event.type === 'message_end') break;
      }
    expect(told).to.deep.equal([
      ['one', 0.5, 0.5],
      ['two', 0.8, 1],
      ['two', 1, 1],
    ]);
  });

  it('that asks has the run wait, and go on to its end with a yes, or end with a no', async () => {
    for (const approved of [true, false]) {
      const gateway = await gatewayOf({
        budgets: [session({ limit: { tokens: 20 }, reached: 'ask', question: { roles: ['money'] } })],
      });
      const main = gateway.session('main', ann);
      const run = main.send('5');
      const question = await questionOf(main);
      expect(question.name).to.equal('budget');
      expect((await refusal(main.respond(question.callId, { approved: true })))?.code).to.equal(
        'GUARD_DENIED',
      );
      const boss = gateway.session('main', { user: { id: 'ann', roles: ['money'] } });
      await boss.respond(question.callId, { approved });
      const { stopReason, usage } = await run.result;
      expect([stopReason, usage?.inputTokens]).to.deep.equal(approved ? ['end', 40] : ['budget', 16]);
    }
  });

  it('that asks lets a run go on by itself, once, when it is raised', async () => {
    const made: string[] = [];
    const gateway = await gatewayOf({
      app: spends(made),
      budgets: [session({ limit: { tokens: 20 }, reached: 'ask' })],
    });
    const acts: string[] = [];
    gateway.on('audit', ({ act, door }) => void acts.push(`${act} ${door}`));
    const main = gateway.session('main', ann);
    const run = main.send('5');
    await questionOf(main);
    await gateway.budgets.set(session({ limit: { tokens: 40 }, reached: 'ask' }));
    await until(() => made.length === 4);
    await questionOf(main);
    // It has no room yet, so the run asks anew.
    await gateway.budgets.unset('b');
    await questionOf(main);
    await gateway.budgets.set(session({ limit: { tokens: 1000 }, reached: 'ask' }));
    expect((await run.result).stopReason).to.equal('end');
    expect(made.length).to.equal(5);
    expect(acts.filter((act) => act === 'set-budget host')).to.have.length(2);
    expect(acts).to.include('decide-approval gateway');
  });

  it('that counts runs lets so many begin', async () => {
    const gateway = await gatewayOf({ budgets: [session({ per: 'person', limit: { runs: 2 } })] });
    for (const name of ['a', 'b'])
      expect((await gateway.session(name, ann).send('1').result).stopReason).to.equal('end');
    expect((await refusal(gateway.session('c', ann).send('1').accepted))?.code).to.equal('BUDGET_EXHAUSTED');
    expect((await gateway.session('a', bob).send('1').result).stopReason).to.equal('end');
  });

  it('of a run counts the runs under it', async () => {
    const child = defineApp({
      async run(turn) {
        for (;;) await turn.usage({ inputTokens: 10 });
      },
    });
    const app = defineApp({
      async run(turn) {
        await turn.usage({ inputTokens: 10 });
        const ended = await turn.spawn('child', { message: 'go' }).result;
        await turn.usage({ inputTokens: 10 });
        return ended.stopReason;
      },
    });
    const gateway = await gatewayOf({
      app: undefined as never,
      ...{ apps: { main: app, child }, defaultApp: 'main' },
      budgets: [session({ period: 'run', limit: { tokens: 50 } })],
    });
    for (const message of ['one', 'two']) {
      const { stopReason, totalUsage } = await (await gateway.session('main', ann).send(message)).result;
      expect([stopReason, totalUsage?.inputTokens]).to.deep.equal(['budget', 60]);
    }
  });

  it('bounds many runs at once to one call each beyond it, at a call that is made before another is told', async () => {
    const made: string[] = [];
    const gateway = await gatewayOf({
      app: spends(made),
      budgets: [session({ per: 'person', limit: { cost: 5 } })],
    });
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => gateway.session(`s${i}`, ann).send('50')),
    );
    const ends = await Promise.all(runs.map(({ result }) => result));
    expect(new Set(ends.map(({ stopReason }) => stopReason))).to.deep.equal(new Set(['budget']));
    expect(made.length).to.be.within(20, 40);
    const [row, ...others] = await gateway.usage();
    expect(others).to.deep.equal([]);
    expect([row!.calls, row!.cost]).to.deep.equal([made.length, made.length / 4]);
  });

  it('of a person who is erased begins anew', async () => {
    const gateway = await gatewayOf({ budgets: [session({ per: 'person', limit: { cost: 0.5 } })] });
    const main = gateway.session('main', ann);
    await (await main.send('2')).result;
    expect((await refusal(main.send('1').accepted))?.code).to.equal('BUDGET_EXHAUSTED');
    await gateway.erase({ user: { id: 'ann' } } as never);
    const { stopReason } = await gateway.session('main', ann).send('1').result;
    expect(stopReason).to.equal('end');
  });

  it('asks once for calls that a run makes together, and one answer is for the runs under it', async () => {
    const children = defineApp({
      async run(turn: Turn) {
        for (let call = 0; call < 2; call += 1)
          await turn.step('call', () => turn.usage({ inputTokens: 10 }));
        return 'done';
      },
    });
    const app = defineApp({
      async run(turn: Turn) {
        const under = ['a', 'b'].map((id) => turn.spawn('under', { id, message: 'go' }).result);
        const calls = Array.from({ length: 5 }, async (_, lane) => {
          for (let call = 0; call < 2; call += 1)
            await turn.step(`call ${lane} ${call}`, () => turn.usage({ inputTokens: 10 }));
        });
        await Promise.all([...calls, ...under]);
        return 'done';
      },
    });
    const { gateway, url } = await startGateway({
      apps: { main: app, under: children },
      defaultApp: 'main',
      budgets: [session({ limit: { tokens: 20 }, reached: 'ask' })],
    });
    const main = connectClient(url).session('main');
    const run = main.send('go');
    const pending = async () => (await main.state()).pending;
    await until(async () => (await pending()).length === 3);
    const [first] = await pending();
    await main.respond(first!.callId, { approved: true });
    const { stopReason } = await run.result;
    expect(stopReason).to.equal('end');
    const asked: string[] = [];
    for await (const event of main.events({ from: 'earliest' })) {
      if (event.type === 'tool_confirmation_required') asked.push(event.runId!);
      if (event.type === 'message_end' && event.runId === (await run.accepted).runId) break;
    }
    expect([asked.length, new Set(asked).size]).to.deep.equal([3, 3]);
    expect((await gateway.usage())[0]!.calls).to.equal(14);
  });

  it('costs a message nothing while there is none: no call of the store more', async () => {
    const counted = async (config: Partial<GatewayConfig<any, any, any>>) => {
      const store = memoryStore();
      let calls = 0;
      const counting = passing(store, (_name, call) => {
        calls += 1;
        return call();
      });
      const app = defineApp({ run: async () => 'ok' });
      const gateway = await gatewayOf({ app, store: counting as never, ...config });
      const main = gateway.session('main', ann);
      for (const text of ['first', 'warm']) await (await main.send(text)).result;
      const before = calls;
      await (await main.send('again')).result;
      return calls - before;
    };
    const none = await counted({});
    expect(await counted({ budgets: [session({ per: 'grant' })] })).to.equal(none);
    expect(none).to.be.at.most(6);
  });
});

describe('usage', () => {
  it('is priced by the host, and null where nobody knows, never 0', async () => {
    const app = defineApp({
      async run(turn: Turn) {
        await turn.usage({ model: 'big', inputTokens: 1000, cachedInputTokens: 400, outputTokens: 100 });
        await turn.usage({ model: 'unknown', inputTokens: 7 });
        await turn.usage({ model: 'big', inputTokens: 1, cost: 2, currency: 'EUR' });
        return 'ok';
      },
    });
    const gateway = await gatewayOf({ app, prices: { big: { input: 2, output: 10, cached: 0.5 } } });
    await (await gateway.session('main', ann).send('go')).result;
    const rows = await gateway.usage({ by: ['model', 'person'] });
    expect(
      rows.map(({ model, person, calls, cost, currency }) => [model, person, calls, cost, currency]),
    ).to.deep.equal([
      ['big', 'ann', 1, 2, 'EUR'],
      ['big', 'ann', 1, 0.0024, 'USD'],
      ['unknown', 'ann', 1, null, null],
    ]);
  });

  it('stays when a session is deleted, and goes with the person, or loses the name', async () => {
    for (const keepSums of [false, true]) {
      const gateway = await gatewayOf({ usage: { keepSums } });
      await (await gateway.session('x', ann).send('2')).result;
      await (await gateway.session('x', bob).send('1')).result;
      await gateway.session('x', ann).delete();
      const all = await gateway.usage({ by: ['person'] });
      expect(all.map(({ person, calls }) => [person, calls])).to.deep.equal([
        ['ann', 2],
        ['bob', 1],
      ]);
      await gateway.erase({ user: { id: 'ann' } } as never);
      const left = await gateway.usage({ by: ['person'] });
      expect(left.map(({ person, calls }) => [person, calls])).to.deep.equal(
        keepSums
          ? [
              ['bob', 1],
              [null, 2],
            ]
          : [['bob', 1]],
      );
    }
  });

  it("of others is nobody's to read; a guest sees that of its link", async () => {
    const gateway = await gatewayOf({});
    await (await gateway.session('x', ann).send('2')).result;
    expect((await gateway.execute('usage', {}, bob)).usage).to.deep.equal([]);
    expect((await gateway.execute('usage', { by: 'person' }, ann)).usage[0]).to.include({
      person: 'ann',
      calls: 2,
    });
  });
});
