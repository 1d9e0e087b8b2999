import { expect } from 'chai';
import { defineApp, type Turn } from '../../server/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream, type RawEvent } from '../support/sse-client.js';

const never = (): Promise<never> => new Promise(() => {});
const asked = { prefer: 'respond-async' };

/** The events of a session up to the end of a run of the conversation. */
async function eventsOf(url: string): Promise<readonly RawEvent[]> {
  const stream = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
  await stream.until(({ event, data }) => event === 'message_end' && data.lane === undefined);
  return stream.events;
}

const uses = (events: readonly RawEvent[]) =>
  events.filter(({ event }) => event === 'usage_added').map(({ data }) => data.usage);

const endOf = (events: readonly RawEvent[]) => events.findLast(({ event }) => event === 'message_end')!.data;

describe('what a run uses', () => {
  it('is in the log as it is told, and adds up in the run and its end', async () => {
    const [told, goes] = [gate(), gate()];
    const app = defineApp({
      async run(turn) {
        await turn.usage({ model: 'a', inputTokens: 3, outputTokens: 1, cost: 0.25, currency: 'USD' });
        told.open();
        await goes.passed;
        void turn.usage({ model: 'b', inputTokens: 2, cost: 0.5, currency: 'USD' });
        return { text: 'ok', usage: { outputTokens: 4, cost: 0, currency: 'USD' } };
      },
    });
    const { url } = await startGateway({ app });
    await post(`${url}/send`, { sessionId: 'main', message: 'go' }, asked);
    await told.passed;
    const early = await openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    expect((await early.until(({ event }) => event === 'usage_added')).data.usage).to.include({ model: 'a' });
    goes.open();
    const events = await eventsOf(url);
    expect(uses(events)).to.deep.equal([
      { model: 'a', inputTokens: 3, outputTokens: 1, cost: 0.25, currency: 'USD' },
      { model: 'b', inputTokens: 2, cost: 0.5, currency: 'USD' },
      { outputTokens: 4, cost: 0, currency: 'USD' },
    ]);
    expect(endOf(events).usage).to.deep.equal({
      ...{ inputTokens: 5, outputTokens: 5 },
      ...{ cost: 0.75, currency: 'USD' },
    });
    expect(endOf(events)).to.not.have.property('totalUsage');
  });

  it('has no cost if the cost of one call is unknown, or in another currency', async () => {
    for (const other of [{ inputTokens: 1 }, { inputTokens: 1, cost: 1, currency: 'EUR' }]) {
      const app = defineApp({
        async run(turn) {
          void turn.usage({ inputTokens: 1, cost: 1, currency: 'USD' });
          void turn.usage(other);
          void turn.usage({ inputTokens: 1, cost: 1, currency: 'USD' });
          return 'ok';
        },
      });
      const { url } = await startGateway({ app });
      await post(`${url}/send`, { sessionId: 'main', message: 'go' });
      expect(endOf(await eventsOf(url)).usage).to.deep.equal({ inputTokens: 3 });
    }
  });

  it('is told apart from what the runs under it use', async () => {
    const child = defineApp({
      async run(turn) {
        void turn.usage({ inputTokens: 10 });
        if (turn.text === 'deeper') return 'leaf';
        await turn.spawn('child', { message: 'deeper' }).result;
        return 'node';
      },
    });
    const main = defineApp({
      async run(turn) {
        void turn.usage({ inputTokens: 1 });
        await turn.spawn('child', { message: 'go' }).result;
        return 'root';
      },
    });
    const { url } = await startGateway({ apps: { main, child }, defaultApp: 'main' });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'go' });
    expect([body.usage, body.totalUsage]).to.deep.equal([{ inputTokens: 1 }, { inputTokens: 21 }]);
    const [node, leaf] =
      body.message.children ?? (await get(`${url}/history?sessionId=main`)).body.messages[1].children;
    expect([node.usage, node.totalUsage]).to.deep.equal([{ inputTokens: 10 }, { inputTokens: 20 }]);
    expect([leaf.usage, leaf.totalUsage]).to.deep.equal([{ inputTokens: 10 }, undefined]);
  });

  /** Runs a program until it holds, and again in another process after a crash at that moment. */
  async function again(program: (turn: Turn, hold: () => Promise<void>) => Promise<void>) {
    const path = newDatabase();
    const stop = gate();
    const appOf = (hold: () => Promise<void>) =>
      defineApp({
        resumable: true,
        run: async (turn) => {
          await program(turn as Turn, hold);
          return 'done';
        },
      });
    const holds = async (): Promise<void> => {
      stop.open();
      await never();
    };
    const first = await startDurable(path, { app: appOf(holds) });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'go' }, asked);
    await stop.passed;
    const second = await startDurable(crashed(path), { app: appOf(async () => {}) });
    return eventsOf(second.url);
  }

  it('counts once what a run tells again after a crash, and the rest', async () => {
    const events = await again(async (turn, hold) => {
      const answered = await turn.step('model', () => ({ inputTokens: 5 }));
      await turn.usage(answered);
      await turn.step('inside', async () => turn.usage({ inputTokens: 7 }));
      await turn.usage({ id: 'named', inputTokens: Date.now() > 0 ? 11 : 0 });
      await turn.usage({ id: 'named', inputTokens: 11 });
      await hold();
      await turn.usage({ inputTokens: 5 });
      await turn.step('last', async () => turn.usage({ inputTokens: 13 }));
    });
    expect(uses(events).map(({ inputTokens }) => inputTokens)).to.deep.equal([5, 7, 11, 5, 13]);
    expect(endOf(events).usage).to.deep.equal({ inputTokens: 41 });
  });

  it('counts again a call that was made again, whose numbers differ', async () => {
    let tokens = 5;
    const events = await again(async (turn, hold) => {
      await turn.usage({ inputTokens: tokens++ });
      await hold();
    });
    expect(endOf(events).usage).to.deep.equal({ inputTokens: 11 });
  });

  it('counts what was used before a run is lost', async () => {
    const path = newDatabase();
    const stop = gate();
    const app = defineApp({
      async run(turn) {
        await turn.usage({ inputTokens: 3 });
        stop.open();
        return never();
      },
    });
    const first = await startDurable(path, { app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'go' }, asked);
    await stop.passed;
    const second = await startDurable(crashed(path), { app });
    const end = endOf(await eventsOf(second.url));
    expect([end.stopReason, end.usage]).to.deep.equal(['lost', { inputTokens: 3 }]);
  });
});
