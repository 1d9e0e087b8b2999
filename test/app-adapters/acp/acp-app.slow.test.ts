import { expect } from 'chai';
import { acpApp } from '../../../server/app-adapters/acp/index.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { PNG } from '../../support/files.js';
import { until } from '../../support/until.js';
import { follow, serve } from '../served.js';
import { signal, ToldAgent } from './told-agent.js';

async function start(options: Parameters<ToldAgent['app']>[0] = {}, mode?: string) {
  const agent = new ToldAgent();
  const served = await serve(agent.app(options, mode));
  const say = async (text: string, session = 'main') =>
    textOf((await served.client.send(session, text).result).message);
  return { ...served, agent, say };
}

describe('acpApp', () => {
  it('shows what the agent says, thinks, plans and calls, and counts what it costs', async () => {
    const { client } = await start();
    for (const cost of [0.5, 0.5]) {
      const run = client.send('main', 'work');
      expect(await follow(run)).to.deep.equal([
        ['reasoning_delta', 'Hm.'],
        ['data', 'plan', [{ content: 'Look', priority: 'high', status: 'pending' }]],
        ['tool_use', 'c1', 'read', { path: 'a' }],
        ['tool_result', 'c1', 'read', 'seen', false],
        ['content_delta', 'Done.'],
        ['message_end', 'end'],
      ]);
      expect((await run.result).usage).to.include({ cost, currency: 'USD' });
    }
  });

  it('gives it the folder and the environment of the host, and nothing of this process', async () => {
    process.env.ACP_SECRET = 'secret';
    try {
      const { agent, say } = await start({ env: { OWN: 'x' } });
      const { env, cwd } = JSON.parse(await say('env'));
      expect(env).to.deep.equal({ OWN: 'x' });
      expect(cwd).to.equal(agent.folder);
    } finally {
      delete process.env.ACP_SECRET;
    }
  });

  it('takes folder and environment from a function of the turn', async () => {
    const agent = new ToldAgent();
    const cwd = async () => agent.folder;
    const { client } = await serve(agent.app({ cwd, env: ({ user }) => ({ WHO: user!.id }) }));
    const { message } = await client.send('main', 'env').result;
    expect(JSON.parse(textOf(message))).to.deep.equal({ env: { WHO: 'token' }, cwd: agent.folder });
  });

  it('has one process and one session of the agent for each session', async () => {
    const { agent, say } = await start();
    expect(await say('tell')).to.equal('s1 ["tell"]');
    expect(await say('tell')).to.equal('s1 ["tell","tell"]');
    expect(await say('tell', 'other')).to.equal('s2 ["tell"]');
    expect(agent.started).to.have.length(2);
  });

  it('tells a new session of the agent what was said, where a message was edited', async () => {
    const { client, say } = await start();
    await say('tell');
    await say('tell');
    const { messages } = await client.session('main').history();
    const again = await client.session('main').edit(messages[2]!.id, 'tell').result;
    expect(textOf(again.message)).to.match(/^s2 \["\[The conversation so far\]\\nuser: tell\\nassistant: s1/);
  });

  it('asks the person where the agent asks for permission: yes, no, and no to another input', async () => {
    const { agent, client } = await start();
    const session = client.session('main');
    for (const [answer, outcome, isError] of [
      [(id: string) => session.approve(id), 'yes', false],
      [(id: string) => session.deny(id), 'no', true],
      [(id: string) => session.approve(id, { input: { path: '/' } }), 'no', true],
    ] as const) {
      const shown = await follow(client.send('main', 'erase'), (event) => {
        if (event.type === 'tool_confirmation_required') return answer(event.callId);
      });
      const [[, callId]] = shown as [[string, string]];
      expect(shown).to.deep.equal([
        ['tool_use', callId, 'delete', { path: 'a' }],
        ['tool_confirmation_required', callId, 'delete', { path: 'a' }],
        ['tool_result', callId, 'delete', { answer: outcome }, isError],
        ['content_delta', `It was ${outcome}.`],
        ['message_end', 'end'],
      ]);
    }
    expect(agent.lines('erased.txt')).to.deep.equal(['a']);
  });

  it('gives it pictures where it takes them, and names what it does not', async () => {
    const { client, agent } = await start();
    const data = Buffer.from(PNG).toString('base64');
    await client.send('main', [
      { type: 'image', mediaType: 'image/png', data },
      { type: 'file', mediaType: 'application/zip', data, name: 'a.zip' },
      { type: 'text', text: 'tell' },
    ]).result;
    expect(JSON.parse(agent.lines('sessions.json')[0]!).s1).to.deep.equal([
      ...['<image>', '[a.zip: not shown]', 'tell'],
    ]);
  });

  it('takes messages that steer a run as its next prompt', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'erase');
    const done = follow(run, async (event) => {
      if (event.type !== 'tool_confirmation_required') return;
      await client.send('main', 'tell', { onBusy: 'steer' }).accepted;
      await client.session('main').approve(event.callId);
    });
    await done;
    const told = () => JSON.parse(agent.lines('sessions.json')[0]!).s1;
    await until(() => told().length === 2);
    expect(told()).to.deep.equal(['erase', 'tell']);
  });

  it('cancels its prompt when a run is aborted; the next run is asked of the same process', async () => {
    const { agent, client, say } = await start();
    const run = client.send('main', 'wait');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    expect(await say('tell')).to.equal('s1 ["wait","tell"]');
    expect([agent.lines('cancelled.txt'), agent.started.length]).to.deep.equal([['x'], 1]);
  });

  it('kills one that does not stop, also one that does not end when it is asked to', async () => {
    const { agent, client, say } = await start({ graceMs: 100 }, 'stubborn');
    const run = client.send('main', 'deaf');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    expect(await say('tell')).to.equal('s1 ["deaf","tell"]');
    const [first] = agent.started;
    await until(() => !signal(first!, 0));
  });

  it('ends it with its session, with the gateway, and after a while without a run', async () => {
    const closed = await start();
    await closed.say('tell');
    await closed.client.session('main').close();
    await closed.agent.gone();
    const ended = await start();
    await ended.say('tell');
    await ended.gateway.close();
    await ended.agent.gone();
    const idle = await start({ idleMs: 50 });
    await idle.say('tell');
    await idle.agent.gone();
    expect(await idle.say('tell'), 'its session is taken up').to.equal('s1 ["tell","tell"]');
  });

  it('takes its session up behind a restart of the gateway, and tells what was said where it can not', async () => {
    for (const [mode, expected] of [
      ['load', /^s1 \["tell","tell"\]$/],
      ['forgetful', /^s2 \["\[The conversation so far\].*","tell"\]$/],
    ] as const) {
      const agent = new ToldAgent();
      const path = newDatabase();
      const first = await startDurable(path, { app: agent.app({}, mode) });
      await connectClient(first.url).send('main', 'tell').result;
      await first.gateway.close();
      const second = await startDurable(path, { app: agent.app({}, mode) });
      const { message } = await connectClient(second.url).send('main', 'tell').result;
      expect(textOf(message)).to.match(expected);
    }
  });

  it('asks again behind a crash with an open approval, which stays the same question', async () => {
    const agent = new ToldAgent();
    const path = newDatabase();
    const first = await startDurable(path, { app: agent.app({ resumable: true }) });
    let callId = '';
    for await (const event of connectClient(first.url).send('main', 'erase')) {
      if (event.type !== 'tool_confirmation_required') continue;
      callId = event.callId;
      break;
    }
    const second = await startDurable(crashed(path), { app: agent.app({ resumable: true }) });
    const client = connectClient(second.url);
    const events = client.events('main', { from: 'earliest' });
    await client.session('main').approve(callId);
    let asked = 0;
    for await (const event of events) {
      if (event.type === 'tool_confirmation_required') asked += 1;
      if (event.type !== 'message_end') continue;
      expect([event.stopReason, textOf(event.message)]).to.deep.equal(['end', 'It was yes.']);
      break;
    }
    expect([asked, agent.lines('erased.txt')]).to.deep.equal([1, ['a']]);
    expect(JSON.parse(agent.lines('sessions.json')[0]!)).to.deep.equal({ s1: ['erase', 'erase'] });
  });

  it('does not go on with the session of a conversation from which another was forked', async () => {
    const { client, say } = await start();
    await say('tell');
    await client.session('main').fork('copy');
    expect(await say('tell', 'copy')).to.match(/^s2 /);
  });

  it('refuses options that it can not mean, by name', () => {
    const options = { command: 'x', cwd: '/' };
    for (const [wrong, field] of [
      [{ command: '' }, 'command'],
      [{ cwd: 'here' }, 'cwd'],
      [{ idleMs: 0 }, 'idleMs'],
      [{ messageBytes: 1.5 }, 'messageBytes'],
      [{ onFault: 'never' as never }, 'onFault'],
    ] as const)
      expect(() => acpApp({ ...options, ...wrong }))
        .to.throw()
        .with.property('message')
        .that.contains(field);
  });
});
