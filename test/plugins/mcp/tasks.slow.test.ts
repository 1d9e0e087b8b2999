import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { expect } from 'chai';
import { defineApp, type ToolContext, tool, toolResult } from '../../../server/index.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { describeDaily } from '../../support/daily.js';
import { crashed, newDatabase } from '../../support/durable.js';
import { SEED } from '../../support/fuzz.js';
import { gate } from '../../support/gate.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { STORES } from '../actor.js';
import { askedRaw, begun, connectTasks, startTasks, text, until } from './task-clients.js';

const CUTS = 30;
const LONG = 'wört '.repeat(1500);

/** An app with a tool that charges, slowly where a gate holds it. */
function charging({ resumable, confirm = false }: { resumable: boolean; confirm?: boolean }) {
  const calls: string[] = [];
  const began = gate();
  const held = gate();
  const app = defineApp({
    run: () => 'unused',
    resumable,
    tools: {
      charge: tool({
        confirm,
        handler: async (_: unknown, { callId }: ToolContext) => {
          calls.push(callId);
          began.open();
          await held.passed;
          return toolResult({ content: [{ type: 'text', text: 'charged' }], structured: { ok: true } });
        },
      }),
    },
  });
  return { app, calls, began, held };
}

describeDaily('a task of MCP whose line breaks', 1, () => {
  for (const [store, make] of STORES)
    it(`has one effect and its whole result: ${store} (seed ${SEED})`, async () => {
      const effects: number[] = [];
      const app = defineApp({
        run: () => 'unused',
        tools: {
          pay: tool({
            confirm: true,
            handler: ({ n }: any) => {
              effects.push(n);
              return { n, said: LONG };
            },
          }),
        },
      });
      const { url, gateway } = await startTasks({ app, store: make(), limits: FAST });
      const proxy = await CuttingProxy.start(url);
      const { pathname } = new URL(url);
      const { session } = await connectTasks(url, {
        through: `${proxy.url}${pathname}`,
        onInputRequest: (async () => ({ action: 'accept', content: { approve: true } })) as never,
      });
      let runs = 0;
      gateway.on('run:started', () => {
        runs += 1;
      });
      const random = randomOf(SEED);
      for (let n = 0; n < CUTS; n++) proxy.cuts.push(1 + Math.floor(random() * 12_000));
      const expected: number[] = [];
      for (let n = 0; n < CUTS; n++) {
        const headers = { 'Idempotency-Key': `pay-${n}` };
        const { outcome } = await (await session.callTool('pay', { n }, { headers })).settle();
        const result: any = resultFromTaskOutcome(outcome);
        expect(result.structuredContent, `round ${n}`).to.deep.equal({ n, said: LONG });
        expected.push(n);
      }
      expect(proxy.cut).to.equal(CUTS);
      expect(effects).to.deep.equal(expected);
      expect(runs).to.equal(CUTS);
    });
});

describe('a task of MCP whose gateway ends', () => {
  const on = (path: string, app: any) => startTasks({ app, store: sqliteStore({ path }) });

  it('goes on at the next one', async () => {
    const path = newDatabase();
    const first = charging({ resumable: true });
    const one = await on(path, first.app);
    const { session } = await connectTasks(one.url);
    const { handle } = await session.callTool('charge', {});
    const taskId = handle!.taskId;
    await first.began.passed;
    const { createdAt } = await until(one.url, taskId, 'working');
    const second = charging({ resumable: true });
    const two = await on(crashed(path), second.app);
    const again = await connectTasks(two.url);
    await second.began.passed;
    second.held.open();
    const outcome: any = await again.session.task(taskId).result();
    expect(resultFromTaskOutcome(outcome)).to.deep.include({
      content: text('charged'),
      structuredContent: { ok: true },
    });
    expect(outcome.task.createdAt).to.equal(createdAt);
    expect(second.calls).to.have.length(1);
    first.held.open();
  });

  it('is told of as one, when the gateway ends in order while its client waits', async () => {
    const path = newDatabase();
    const first = charging({ resumable: true });
    const options = { tasks: { afterMs: 60_000 }, path: '/mcp' };
    const one = await startTasks({ app: first.app, store: sqliteStore({ path }) }, options);
    const calling = begun(one.url, 'charge');
    await first.began.passed;
    const closing = one.gateway.close();
    const taskId = await calling;
    first.held.open();
    await closing;
    const second = charging({ resumable: true });
    second.held.open();
    const two = await on(path, second.app);
    expect((await until(two.url, taskId, 'completed')).result.content).to.deep.equal(text('charged'));
  });

  it('still has its question', async () => {
    const path = newDatabase();
    const first = charging({ resumable: true, confirm: true });
    const one = await on(path, first.app);
    const taskId = await begun(one.url, 'charge');
    const asked = await until(one.url, taskId, 'input_required');
    const second = charging({ resumable: true, confirm: true });
    second.held.open();
    const two = await on(crashed(path), second.app);
    const still = await until(two.url, taskId, 'input_required');
    expect(still.inputRequests).to.deep.equal(asked.inputRequests);
    const yes = { action: 'accept', content: { approve: true } };
    const inputResponses = { [Object.keys(still.inputRequests)[0]!]: yes };
    const answer = await askedRaw(two.url, 'tasks/update', { taskId, inputResponses });
    expect(answer.result).to.include({ resultType: 'complete' });
    expect((await until(two.url, taskId, 'completed')).result.content).to.deep.equal(text('charged'));
    expect(second.calls).to.have.length(1);
  });

  it('has failed, where its app is not resumable', async () => {
    const path = newDatabase();
    const first = charging({ resumable: false });
    const one = await on(path, first.app);
    const { session } = await connectTasks(one.url);
    const { handle } = await session.callTool('charge', {});
    await first.began.passed;
    const second = charging({ resumable: false });
    const two = await on(crashed(path), second.app);
    const task = await until(two.url, handle!.taskId, 'failed');
    expect(task.error).to.deep.include({ code: -32603, data: { code: 'LOST' } });
    expect(second.calls).to.deep.equal([]);
    first.held.open();
  });

  it('is known afterwards, with its result and its key', async () => {
    const path = newDatabase();
    const first = charging({ resumable: false });
    first.held.open();
    const one = await on(path, first.app);
    const headers = { 'idempotency-key': 'order-7' };
    const taskId = await begun(one.url, 'charge', { headers });
    const task = await until(one.url, taskId, 'completed');
    await one.gateway.close();
    const second = charging({ resumable: false });
    const two = await on(path, second.app);
    const { _meta, ...kept } = await until(two.url, taskId, 'completed');
    expect(kept).to.deep.equal(Object.fromEntries(Object.entries(task).filter(([name]) => name !== '_meta')));
    expect(await begun(two.url, 'charge', { headers })).to.equal(taskId);
    expect(second.calls).to.deep.equal([]);
  });
});
