import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { defineApp } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { closeLater } from '../../support/resources.js';
import { giving, heldTool, payments } from './offered-tools.js';
import { askedRaw, begun, connectTasks, got, startTasks, TASKS, text, until } from './task-clients.js';

describe('the id of a task of MCP', () => {
  /** Every request about a task. */
  const requests = [
    ['tasks/get', {}],
    ['tasks/update', { inputResponses: {} }],
    ['tasks/cancel', {}],
  ] as const;

  it('is nobody else’s', async () => {
    const { app, began, held, aborted } = heldTool();
    let isAborted = false;
    void aborted.passed.then(() => {
      isAborted = true;
    });
    const { url } = await startTasks({ app });
    const taskId = await begun(url, 'held');
    await began.passed;
    for (const user of ['bob', 'tenant/alice'])
      for (const [method, more] of requests)
        expect((await askedRaw(url, method, { taskId, ...more }, { user })).error).to.deep.equal({
          code: -32602,
          message: 'Task not found',
        });
    held.open('done');
    await until(url, taskId, 'completed');
    expect(isAborted).to.equal(false);
  });

  it('is of a task alone: no other run, session or text is one', async () => {
    const held = gate<string>();
    const app = defineApp({ run: () => held.passed, tools: giving.tools! });
    const { url, base } = await startTasks({ app });
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    const run = client.session('main').send('hello');
    const beside = client.session('main').send('beside', { lane: 'new' });
    const ids = [(await run.accepted).runId, (await beside.accepted).runId];
    const taskId = await begun(url, 'words');
    const runId = taskId.split('~')[1]!;
    const wrong = [
      ...ids.flatMap((id) => [id, `main~${id}`]),
      ...[runId, `other~${runId}`, `${taskId}~`, `${taskId}~x`, `~${runId}`, 'main~', 'main', '~', '!'],
      ...['main~run_missing', `main~${'x'.repeat(5000)}`, 'käse ~ ', `main~${runId}!`, '__proto__'],
    ];
    for (const id of wrong)
      for (const [method, more] of requests) {
        const { error } = await askedRaw(url, method, { taskId: id, ...more });
        expect([id, error?.code]).to.deep.equal([id, -32602]);
      }
    held.open('said');
    expect((await run.result).stopReason).to.equal('end');
    expect((await beside.result).stopReason).to.equal('end');
  });

  it('is unknown to who may no longer use its tool', async () => {
    const { app, began, held } = heldTool();
    let allowed = true;
    const { url } = await startTasks({ app }, { toolFilter: (tools) => (allowed ? tools : []) });
    const taskId = await begun(url, 'held');
    await began.passed;
    allowed = false;
    for (const [method, more] of requests)
      expect((await askedRaw(url, method, { taskId, ...more })).error.code).to.equal(-32602);
    allowed = true;
    held.open('done');
    expect((await until(url, taskId, 'completed')).result.content).to.deep.equal(text('done'));
  });
});

describe('a request about a task of MCP that is wrong', () => {
  it('is refused with a code, and changes nothing', async () => {
    const { app, paid } = payments();
    const { url } = await startTasks({ app });
    const taskId = await begun(url, 'pay', {}, { sum: 5 });
    const task = await until(url, taskId, 'input_required');
    const [key] = Object.keys(task.inputRequests);
    const yes = { action: 'accept', content: { approve: true } };
    const bodies: [string, Record<string, unknown>][] = [
      ...['tasks/get', 'tasks/update', 'tasks/cancel'].flatMap((method): [string, any][] => [
        [method, {}],
        [method, { taskId: 5 }],
        [method, { taskId: null }],
        [method, { taskId: [taskId] }],
        [method, { taskId: {} }],
      ]),
      ['tasks/update', { taskId }],
      ['tasks/update', { taskId, inputResponses: { [key!]: null } }],
      ['tasks/update', { taskId, inputResponses: { [key!]: 'yes' } }],
      ['tasks/update', { taskId, inputResponses: { [key!]: [] } }],
      ['tasks/update', { taskId, inputResponses: { [key!]: {} } }],
      ['tasks/update', { taskId, inputResponses: { [key!]: { action: 'maybe' } } }],
      ['tasks/update', { taskId, inputResponses: { [key!]: { method: 'elicitation/create', ...yes } } }],
    ];
    for (const [method, params] of bodies) {
      const { error } = await askedRaw(url, method, params);
      expect([JSON.stringify(params), error?.code]).to.deep.equal([JSON.stringify(params), -32602]);
    }
    for (const method of ['tasks/result', 'tasks/list'])
      expect((await askedRaw(url, method, { taskId })).error.code).to.equal(-32601);
    // What the header names and the body does not.
    const headers = { 'mcp-name': 'main~run_other' };
    expect((await askedRaw(url, 'tasks/cancel', { taskId }, { headers })).error.code).to.equal(-32020);
    expect(await got(url, taskId)).to.deep.equal(task);
    // A form that says no plain yes does not approve.
    const unsure = { [key!]: { action: 'accept', content: { approve: 'true' } } };
    await askedRaw(url, 'tasks/update', { taskId, inputResponses: unsure });
    expect((await until(url, taskId, 'completed')).result.isError).to.equal(true);
    expect(paid).to.deep.equal([]);
  });

  it('to hear of tasks is refused without the extension, and heard of none with it', async () => {
    const { url } = await startTasks({ app: giving });
    const params = { notifications: { taskIds: ['main~run_x'] } };
    const refused = await askedRaw(url, 'subscriptions/listen', params, { capabilities: {} });
    expect(refused).to.deep.include({ id: 1 });
    expect(refused.error).to.deep.include({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
    expect((await askedRaw(url, 'subscriptions/listen', params)).result).to.include({
      resultType: 'complete',
    });
  });

  it('has a key that begins one task', async () => {
    const { app, began, held } = heldTool(giving.tools);
    let runs = 0;
    const { url, gateway } = await startTasks({ app });
    gateway.on('run:started', () => {
      runs += 1;
    });
    const headers = { 'idempotency-key': 'k1' };
    const ids = await Promise.all([1, 2, 3].map(() => begun(url, 'held', { headers })));
    expect(new Set(ids).size).to.equal(1);
    await began.passed;
    held.open('done');
    await until(url, ids[0]!, 'completed');
    expect(await begun(url, 'held', { headers })).to.equal(ids[0]);
    const other = await askedRaw(url, 'tools/call', { name: 'words', arguments: {} }, { headers });
    expect(other.error).to.deep.include({ code: -32603, data: { code: 'IDEMPOTENCY_CONFLICT' } });
    const bad = { headers: { 'idempotency-key': 'x'.repeat(300) } };
    const refused = await askedRaw(url, 'tools/call', { name: 'words', arguments: {} }, bad);
    expect(refused.error.data).to.deep.equal({ code: 'INVALID_PARAMS' });
    expect(runs).to.equal(1);
  });

  it('has a key that still leads to its result when its events are cut', async () => {
    const limits = { retention: { events: 1 } };
    const { url, base } = await startTasks({ app: giving, limits }, { tasks: undefined });
    const headers = { 'idempotency-key': 'k1' };
    const call = () => askedRaw(url, 'tools/call', { name: 'both', arguments: {} }, { headers });
    const { result } = await call();
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    for (let i = 0; i < 4; i++) await client.session('main').send('more').result;
    expect((await call()).result).to.deep.equal(result);
  });

  it('leaves no call behind without a key, when its client is gone', async () => {
    const { app, began, aborted } = heldTool();
    const { url } = await startTasks({ app }, { tasks: { afterMs: 60_000 } });
    const { session } = await connectTasks(url);
    const leaving = new AbortController();
    const calling = session.callTool('held', {}, { signal: leaving.signal }).catch(() => 'left');
    await began.passed;
    leaving.abort();
    expect(await calling).to.equal('left');
    await aborted.passed;
  });
});
