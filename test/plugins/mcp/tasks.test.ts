import { resultFromTaskOutcome, TaskFailedError } from '@modelcontextprotocol/ext-tasks/client';
import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { defineApp, type ToolContext, tool } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { MemoryHub } from '../../support/memory-hub.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { INITIALIZE, messagesOf, postMcp, withoutSessions, withSessions } from './mcp-clients.js';
import { giving, heldTool } from './offered-tools.js';
import {
  askedRaw,
  begun,
  connectTasks,
  got,
  settled,
  startTasks,
  TASKS,
  text,
  until,
} from './task-clients.js';

describe('a task of MCP', () => {
  it('is made, polled and completed', async () => {
    const { app, began, held } = heldTool();
    const { url } = await startTasks({ app });
    const { client, session } = await connectTasks(url);
    const { extensions } = client.getServerCapabilities()!;
    expect(extensions).to.deep.equal({ 'io.modelcontextprotocol/tasks': {} });
    const execution = await session.callTool('held', {});
    expect(execution.kind).to.equal('task');
    await began.passed;
    const { taskId } = execution.handle!;
    expect(await session.task(taskId).snapshot()).to.deep.include({ status: 'working', retentionMs: null });
    held.open('done');
    const { outcome } = await execution.settle();
    expect(outcome.status).to.equal('completed');
    expect(resultFromTaskOutcome(outcome)).to.deep.include({ content: text('done') });
    const { createdAt, lastUpdatedAt, ttlMs } = await got(url, taskId);
    const took = Date.parse(lastUpdatedAt) - Date.parse(createdAt);
    expect(took).to.be.within(0, 60_000);
    expect(ttlMs).to.equal(took + 24 * 3_600_000);
  });

  for (const name of Object.keys(giving.tools!))
    it(`has the result of a plain call: ${name}`, async () => {
      const { url } = await startTasks({ app: giving });
      const plain = await (await withoutSessions.connect(url)).call(name);
      const { session } = await connectTasks(url);
      const { _meta, resultType, ...result } = resultFromTaskOutcome(await settled(session, name)) as any;
      expect(resultType).to.equal('complete');
      delete plain._meta;
      expect(result).to.deep.equal(plain);
    });

  it('is in the log of the session, beside its conversation', async () => {
    const { url, base } = await startTasks({ app: giving });
    const taskId = await begun(url, 'words');
    await until(url, taskId, 'completed');
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    const session = client.session('main');
    expect((await session.history()).messages).to.deep.equal([]);
    const { stopReason, message } = await session.run(taskId.split('~')[1]!).result;
    expect(stopReason).to.equal('end');
    expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result']);
  });

  it('says how far it is', async () => {
    const told = gate();
    const held = gate();
    const app = defineApp({
      run: () => 'unused',
      tools: {
        count: tool({
          handler: async (_: unknown, { progress }: ToolContext) => {
            progress(1, 3);
            progress(2, 3, 'two of three');
            told.open();
            await held.passed;
          },
        }),
      },
    });
    const { url } = await startTasks({ app });
    const taskId = await begun(url, 'count');
    await told.passed;
    let task = await got(url, taskId);
    while (task.statusMessage !== 'two of three') task = await got(url, taskId);
    expect(task.status).to.equal('working');
    held.open();
    expect(await until(url, taskId, 'completed')).not.to.have.property('statusMessage');
  });

  it('is cancelled, and its tool is told', async () => {
    const { app, began, aborted } = heldTool();
    const { url } = await startTasks({ app });
    const { session } = await connectTasks(url);
    const execution = await session.callTool('held', {});
    await began.passed;
    await execution.cancel();
    await aborted.passed;
    const { taskId } = execution.handle!;
    expect(await until(url, taskId, 'cancelled')).not.to.have.any.keys('result', 'error');
    expect((await execution.settle()).outcome.status).to.equal('cancelled');
    // The second one changes nothing.
    expect((await askedRaw(url, 'tasks/cancel', { taskId })).result).to.include({ resultType: 'complete' });
  });

  it('that is over stays as it is when it is cancelled', async () => {
    const { url } = await startTasks({ app: giving });
    const taskId = await begun(url, 'words');
    const task = await until(url, taskId, 'completed');
    expect(await askedRaw(url, 'tasks/cancel', { taskId })).not.to.have.property('error');
    expect(await got(url, taskId)).to.deep.equal(task);
  });

  it('fails with the error of its run', async () => {
    const { app, held } = heldTool();
    const { url } = await startTasks({ app, limits: { runMs: 50 } });
    const { session } = await connectTasks(url);
    const outcome: any = await settled(session, 'held');
    expect(outcome.status).to.equal('failed');
    expect(outcome.error).to.be.instanceOf(TaskFailedError);
    expect(outcome.task.raw.error).to.deep.include({ code: -32603, data: { code: 'TIMEOUT' } });
    expect(outcome.task.raw.statusMessage).to.equal(outcome.task.raw.error.message);
    held.open('');
  });

  it('is told from what is kept when its events are cut', async () => {
    const { url, base } = await startTasks({ app: giving, limits: { retention: { events: 1 } } });
    const taskId = await begun(url, 'both');
    const task = await until(url, taskId, 'completed');
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    for (let i = 0; i < 4; i++) await client.session('main').send('more').result;
    const { createdAt, result } = await got(url, taskId);
    expect(createdAt).to.equal(task.createdAt);
    expect(result).to.deep.equal(task.result);
  });

  it('is known to every gateway on its store', async () => {
    const hub = new MemoryHub();
    const { app, began, held } = heldTool();
    const [one, other] = [
      await startTasks({ app, store: hub.node().store }),
      await startTasks({ app, store: hub.node().store }),
    ];
    const taskId = await begun(one.url, 'held');
    await began.passed;
    expect((await got(other.url, taskId)).status).to.equal('working');
    held.open('done');
    const { session } = await connectTasks(other.url);
    const outcome = await session.task(taskId as never).result();
    expect(resultFromTaskOutcome(outcome)).to.deep.include({ content: text('done') });
    const second = await begun(other.url, 'held');
    expect((await until(one.url, second, 'completed')).result.content).to.deep.equal(text('done'));
  });
});

describe('which calls become tasks', () => {
  it('those that take longer than `afterMs`', async () => {
    const { app, began, held } = heldTool({ quick: tool({ handler: () => 'quick' }) });
    const { url } = await startTasks({ app }, { tasks: { afterMs: 300, pollMs: 20 } });
    const { session } = await connectTasks(url);
    const quick = await session.callTool('quick', {});
    expect(quick.kind).to.equal('immediate');
    const slow = await session.callTool('held', {});
    expect(slow.kind).to.equal('task');
    await began.passed;
    held.open('slow');
    expect(resultFromTaskOutcome((await slow.settle()).outcome)).to.deep.include({ content: text('slow') });
  });

  it('by default, not those that are quick', async () => {
    const { url } = await startTasks({ app: giving }, { tasks: undefined });
    const { session } = await connectTasks(url);
    expect((await session.callTool('words', {})).kind).to.equal('immediate');
  });

  it('tells a client how far a call is, before it is one', async () => {
    const app = defineApp({
      run: () => 'unused',
      tools: { count: tool({ handler: (_: unknown, { progress }: ToolContext) => progress(2, 3, 'two') }) },
    });
    const { url } = await startTasks({ app }, { tasks: undefined });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } },
      progressToken: 'p',
    };
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'count', _meta } };
    const messages = await messagesOf(
      await postMcp(url, request, {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'count',
      }),
    );
    expect(messages[0].params).to.deep.include({ progressToken: 'p', progress: 2, message: 'two' });
    expect(messages.at(-1).result).to.deep.include({ resultType: 'complete', content: [] });
  });

  it('those of `tools` alone', async () => {
    const { url } = await startTasks({ app: giving }, { tasks: { afterMs: 0, tools: ['json'] } });
    const { session } = await connectTasks(url);
    expect((await session.callTool('words', {})).kind).to.equal('immediate');
    expect((await session.callTool('json', {})).kind).to.equal('task');
  });

  it('none, with `tasks: false`: the extension is not there', async () => {
    const { url } = await startTasks({ app: giving }, { tasks: false });
    const { client, session } = await connectTasks(url);
    expect(client.getServerCapabilities()).not.to.have.property('extensions');
    expect((await session.callTool('words', {})).kind).to.equal('immediate');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await askedRaw(url, method, { taskId: 'main~run_x' })).error.code).to.equal(-32601);
  });

  it('none of a client that does not declare the extension', async () => {
    const { url, base } = await startTasks({ app: giving });
    const client = await withoutSessions.connect(url);
    expect((await client.call('words')).content).to.deep.equal(text('words'));
    // Nothing of it is in a session.
    const { sessions } = (await (await fetch(`${base}/sessions`, { headers: as('alice') })).json()) as any;
    expect(sessions).to.deep.equal([]);
    for (const [method, more] of [
      ['tasks/get', {}],
      ['tasks/update', { inputResponses: {} }],
      ['tasks/cancel', {}],
    ] as const) {
      const { error } = await askedRaw(
        url,
        method,
        { taskId: 'main~run_x', ...more },
        { capabilities: { elicitation: {} } },
      );
      expect(error).to.deep.include({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
      });
    }
  });

  it('none of a client with a session, whose revision has other tasks', async () => {
    const { url } = await startTasks({ app: giving });
    const [{ result }] = await messagesOf(await postMcp(url, INITIALIZE));
    expect(result.capabilities).to.deep.equal({ tools: {}, resources: {} });
    const client = await withSessions.connect(url);
    expect((await client.call('words')).content).to.deep.equal(text('words'));
  });

  it('a wrong option is named', async () => {
    for (const tasks of [{ afterMs: -1 }, { pollMs: 0 }, { tools: 'all' }, { ttl: 1 }, true])
      expect(await startTasks({ app: giving }, { tasks: tasks as never }).catch(String)).to.match(/tasks/);
  });
});
