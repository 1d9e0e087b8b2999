import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { gate } from '../../support/gate.js';
import { closeLater } from '../../support/resources.js';
import { payments } from './offered-tools.js';
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

const approves =
  (forms: unknown[] = []) =>
  async (request: unknown) => {
    forms.push(request);
    return { action: 'accept', content: { approve: true } };
  };
describe('a task of MCP that asks', () => {
  it('asks the person at its client, once', async () => {
    const { app, paid } = payments();
    const { url } = await startTasks({ app });
    const forms: any[] = [];
    const { session } = await connectTasks(url, { onInputRequest: approves(forms) as never });
    const outcome = await settled(session, 'pay', { sum: 5 });
    expect(resultFromTaskOutcome(outcome)).to.deep.include({ content: text('paid 5') });
    expect(forms).to.have.length(1);
    expect(forms[0].params.message).to.equal('Really pay?\n\npay {"sum":5}');
    expect(paid).to.deep.equal([5]);
  });

  it('becomes one as it asks, however long it might take', async () => {
    const { app, paid } = payments();
    const { url } = await startTasks({ app }, { tasks: { afterMs: 60_000, pollMs: 20 } });
    const { session } = await connectTasks(url, { onInputRequest: approves() as never });
    expect(resultFromTaskOutcome(await settled(session, 'pay', { sum: 5 }))).to.deep.include({
      content: text('paid 5'),
    });
    expect(paid).to.deep.equal([5]);
  });

  it('still asks when more has happened in its session than is kept', async () => {
    const { app, paid } = payments();
    const { url, base } = await startTasks({ app, limits: { retention: { events: 1 } } });
    const taskId = await begun(url, 'pay', {}, { sum: 5 });
    const asked = await until(url, taskId, 'input_required');
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    for (let i = 0; i < 4; i++) await client.session('main').send('more').result;
    const still = await got(url, taskId);
    expect(still.inputRequests).to.deep.equal(asked.inputRequests);
    expect(still.createdAt).to.equal(asked.createdAt);
    const [callId] = Object.keys(still.inputRequests);
    const inputResponses = { [callId!]: { action: 'accept', content: { approve: true } } };
    await askedRaw(url, 'tasks/update', { taskId, inputResponses });
    expect((await until(url, taskId, 'completed')).result.content).to.deep.equal(text('paid 5'));
    expect(paid).to.deep.equal([5]);
  });

  it('is denied by the person', async () => {
    const { app, paid } = payments();
    const { url } = await startTasks({ app });
    const denies = async () => ({ action: 'decline' });
    const { session } = await connectTasks(url, { onInputRequest: denies as never });
    expect(resultFromTaskOutcome(await settled(session, 'pay', { sum: 5 }))).to.deep.include({
      content: text('Denied: declined'),
      isError: true,
    });
    expect(paid).to.deep.equal([]);
  });

  it('takes the first answer, from wherever it comes', async () => {
    const { app, paid } = payments();
    const { url, base } = await startTasks({ app });
    const taskId = await begun(url, 'pay', {}, { sum: 5 });
    const { inputRequests } = await until(url, taskId, 'input_required');
    const [callId] = Object.keys(inputRequests);
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    await client.session('main').deny(callId!, 'not today');
    const inputResponses = { [callId!]: { action: 'accept', content: { approve: true } } };
    expect((await askedRaw(url, 'tasks/update', { taskId, inputResponses })).result).to.include({
      resultType: 'complete',
    });
    const { result } = await until(url, taskId, 'completed');
    expect(result.content).to.deep.equal(text('Denied: not today'));
    expect(paid).to.deep.equal([]);
  });

  it('leaves out answers that nobody asked for', async () => {
    const { app, paid } = payments();
    const { url } = await startTasks({ app });
    const taskId = await begun(url, 'pay', {}, { sum: 5 });
    const other = await begun(url, 'pay', {}, { sum: 6 });
    await until(url, taskId, 'input_required');
    const [theirs] = Object.keys((await until(url, other, 'input_required')).inputRequests);
    const yes = { action: 'accept', content: { approve: true } };
    for (const key of ['confirm', 'call_x', 'constructor', theirs!]) {
      const answer = await askedRaw(url, 'tasks/update', { taskId, inputResponses: { [key]: yes } });
      expect(answer.result).to.include({ resultType: 'complete' });
    }
    expect((await got(url, taskId)).status).to.equal('input_required');
    expect((await got(url, other)).status).to.equal('input_required');
    expect(paid).to.deep.equal([]);
  });

  it('asks at a page, which answers', async () => {
    const { app } = payments();
    const confirmUrl = ({ callId }: any) => `https://page.example/${callId}`;
    const { url, base } = await startTasks({ app }, { confirmUrl });
    const opened = gate<any>();
    const opens = async (request: any) => {
      opened.open(request);
      return { action: 'accept' };
    };
    const { session } = await connectTasks(url, { onInputRequest: opens as never });
    const outcome = settled(session, 'pay', { sum: 5 });
    const { params } = await opened.passed;
    expect(params).to.deep.include({ mode: 'url', url: `https://page.example/${params.elicitationId}` });
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    await client.session('main').approve(params.elicitationId);
    expect(resultFromTaskOutcome(await outcome)).to.deep.include({ content: text('paid 5') });
  });

  it('works on, as far as a client knows that can ask nobody', async () => {
    const { app } = payments();
    const { url, base } = await startTasks({ app });
    const capabilities = { extensions: { [TASKS]: {} } };
    const taskId = await begun(url, 'pay', { capabilities }, { sum: 5 });
    const asking = await until(url, taskId, 'input_required');
    expect(asking.statusMessage).to.equal('A person has to agree');
    const task = await got(url, taskId, { capabilities });
    expect(task).to.include({ status: 'working' }).and.not.to.have.property('inputRequests');
    expect(task.statusMessage).to.match(/asked in the session/);
    const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
    await client.session('main').approve(Object.keys(asking.inputRequests)[0]!);
    await until(url, taskId, 'completed', { capabilities });
  });
});
