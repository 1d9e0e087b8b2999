import { expect } from 'chai';
import { claudeAgentApp } from '../../../server/app-adapters/claude-agent/index.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { PNG } from '../../support/files.js';
import { until } from '../../support/until.js';
import { follow, serve } from '../served.js';
import { ToldAgent } from './told-agent.js';

async function start(options: Parameters<ToldAgent['app']>[0] = {}, mode?: string) {
  const agent = new ToldAgent();
  const served = await serve(agent.app(options, mode));
  const say = async (text: string, session = 'main') =>
    textOf((await served.client.send(session, text).result).message);
  return { ...served, agent, say };
}

describe('claudeAgentApp', () => {
  it('shows what the agent says, thinks and calls, a sub-agent also', async () => {
    const { client } = await start();
    expect(await follow(client.send('main', 'work'))).to.deep.equal([
      ['reasoning_delta', 'Hm.'],
      ['content_delta', 'I look. '],
      ['tool_use', 'c1', 'Read', { path: 'a' }],
      ['tool_result', 'c1', 'Read', 'seen', false],
      ['tool_use', 'c2', 'Grep', { of: 'sub-agent' }],
      ['content_delta', 'Done.'],
      ['message_end', 'end'],
    ]);
  });

  it('counts what each answer costs, whether the agent keeps its sums or begins anew', async () => {
    for (const mode of ['', 'zero']) {
      const { client } = await start({}, mode);
      for (let turn = 0; turn < 3; turn += 1) {
        const { usage } = await client.send('main', 'tell').result;
        expect(usage, `${mode} ${turn}`).to.deep.equal({
          ...{ inputTokens: 6, cachedInputTokens: 2, outputTokens: 4, reasoningTokens: 1, totalTokens: 10 },
          ...{ cost: 0.5, currency: 'USD' },
        });
      }
    }
  });

  it('shows a message that comes whole, and once one that comes in pieces too', async () => {
    const { say } = await start();
    expect(await say('whole')).to.equal('At once.');
    expect(await say('tell')).to.equal('s2 ["whole","tell"]');
  });

  it('gives it the folder and the environment of the host, and nothing of this process', async () => {
    process.env.CLAUDE_SECRET = 'secret';
    try {
      const { agent, say } = await start({
        env: ({ user }) => ({ WHO: user!.id }),
        cwd: async () => agent.folder,
      });
      const { env, cwd } = JSON.parse(await say('env'));
      const own = Object.entries(env).filter(
        ([name]) => !/^(?:CLAUDE_CODE_|CLAUDE_AGENT_SDK_|BUN_)/.test(name),
      );
      expect(own).to.deep.equal([['WHO', 'token']]);
      expect(cwd).to.equal(agent.folder);
    } finally {
      delete process.env.CLAUDE_SECRET;
    }
  });

  it('has it read no file of settings, unless the host wants it', async () => {
    const { agent, say } = await start();
    await say('tell');
    expect(agent.lines('args.txt')[0]).to.contain('"--setting-sources="');
    const open = await start({ options: { settingSources: ['project'], model: 'claude-tiny' } });
    await open.say('tell');
    expect(open.agent.lines('args.txt')[0])
      .to.contain('"--setting-sources=project"')
      .and.contain('claude-tiny');
  });

  it('goes on with the session of the answer before, and has one for each session', async () => {
    const { say } = await start();
    expect(await say('tell')).to.equal('s1 ["tell"]');
    expect(await say('tell')).to.equal('s2 ["tell","tell"]');
    expect(await say('tell', 'other')).to.equal('s3 ["tell"]');
    expect(await say('tell')).to.equal('s4 ["tell","tell","tell"]');
  });

  it('goes on from the answer before, where a message was edited', async () => {
    const { client, say } = await start();
    await say('tell');
    await say('whole');
    await say('work');
    const { messages } = await client.session('main').history();
    const again = await client.session('main').edit(messages[2]!.id, 'tell').result;
    expect(textOf(again.message)).to.equal('s4 ["tell","tell"]');
  });

  it('tells a new session what was said, in a fork and where the agent has forgotten', async () => {
    const { client, say } = await start();
    await say('tell');
    await client.session('main').fork('copy');
    expect(await say('tell', 'copy')).to.match(
      /^s2 \["\[The conversation so far\]\\nuser: tell\\nassistant: s1/,
    );
    const forgetful = await start({}, 'forgetful');
    await forgetful.say('tell');
    expect(await forgetful.say('tell')).to.match(/^s2 \["\[The conversation so far\].*","tell"\]$/);
  });

  it('asks the person where the agent asks for permission: yes, no, and yes to another input', async () => {
    const { agent, client } = await start();
    const session = client.session('main');
    for (const [answer, outcome, output] of [
      [(id: string) => session.approve(id), 'allow', 'erased a'],
      [(id: string) => session.deny(id, 'Not that one'), 'deny', 'Not that one'],
      [(id: string) => session.approve(id, { path: 'b' }), 'allow', 'erased b'],
      [(id: string) => session.approve(id, 'b'), 'deny', 'The changed input is no object'],
    ] as const) {
      const shown = await follow(client.send('main', 'erase'), (event) => {
        if (event.type === 'tool_confirmation_required') return answer(event.callId);
      });
      const [[, callId]] = shown as [[string, string]];
      expect(shown).to.deep.equal([
        ['tool_use', callId, 'Delete', { path: 'a' }],
        ['tool_confirmation_required', callId, 'Delete', { path: 'a' }],
        ['tool_result', callId, 'Delete', output, outcome === 'deny'],
        ['content_delta', `It was ${outcome}.`],
        ['message_end', 'end'],
      ]);
    }
    expect(agent.lines('erased.txt')).to.deep.equal(['a', 'b']);
  });

  it('gives it pictures, and names what it does not take', async () => {
    const { client, agent } = await start();
    const data = Buffer.from(PNG).toString('base64');
    await client.send('main', [
      { type: 'image', mediaType: 'image/png', data },
      { type: 'file', mediaType: 'application/zip', data, name: 'a.zip' },
      { type: 'text', text: 'tell' },
    ]).result;
    expect(agent.told('s1')).to.deep.equal([...['<image>', '[a.zip: of a kind that is not shown]', 'tell']]);
  });

  it('takes messages that steer a run as its next prompt, of the same process', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'erase');
    await follow(run, async (event) => {
      if (event.type !== 'tool_confirmation_required') return;
      await client.send('main', 'tell', { onBusy: 'steer' }).accepted;
      await client.session('main').approve(event.callId);
    });
    const { message, usage } = await run.result;
    expect(textOf(message)).to.equal('It was allow.s1 ["erase","tell"]');
    expect([usage?.cost, agent.started.length]).to.deep.equal([1, 1]);
  });

  it('interrupts it when a run is aborted; the next run goes on with its session', async () => {
    const { agent, client, say } = await start();
    const run = client.send('main', 'wait');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await until(() => agent.lines('interrupted.txt').length > 0);
    await agent.gone();
    expect(await say('tell')).to.equal('s2 ["wait","tell"]');
  });

  it('kills one that does not stop, also one that does not end when it is asked to', async () => {
    const { agent, client } = await start({ graceMs: 100 }, 'stubborn');
    const run = client.send('main', 'deaf');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    expect(agent.started, 'the program, and one that it has started').to.have.length(2);
    await agent.gone();
  });

  it('ends one that lives on behind its answer', async () => {
    const { agent, say } = await start({ graceMs: 100 }, 'stubborn');
    expect(await say('tell')).to.equal('s1 ["tell"]');
    await agent.gone();
  });

  it('ends it with the gateway', async () => {
    const { agent, client, gateway } = await start({ graceMs: 100 });
    const run = client.send('main', 'wait');
    await run.text[Symbol.asyncIterator]().next();
    await gateway.close();
    await agent.gone();
  });

  it('goes on behind a restart of the gateway', async () => {
    const agent = new ToldAgent();
    const path = newDatabase();
    const first = await startDurable(path, { app: agent.app() });
    await connectClient(first.url).send('main', 'tell').result;
    await first.gateway.close();
    const second = await startDurable(path, { app: agent.app() });
    const { message } = await connectClient(second.url).send('main', 'tell').result;
    expect(textOf(message)).to.equal('s2 ["tell","tell"]');
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
      expect([event.stopReason, textOf(event.message)]).to.deep.equal(['end', 'It was allow.']);
      break;
    }
    expect([asked, agent.lines('erased.txt')]).to.deep.equal([1, ['a']]);
    expect(agent.told('s2'), 'in the session that it had').to.deep.equal([...['erase', 'erase']]);
  });

  it('refuses options that it can not mean, by name', () => {
    for (const [wrong, field] of [
      [{ cwd: 'here' }, 'cwd'],
      [{ graceMs: 0 }, 'graceMs'],
      [{ messageBytes: 1.5 }, 'messageBytes'],
      [{ onFault: 'never' as never }, 'onFault'],
      [{ options: { resume: 's1' } }, 'options.resume'],
      [{ options: { env: {} } }, 'options.env'],
    ] as const)
      expect(() => claudeAgentApp({ cwd: '/', ...wrong }))
        .to.throw()
        .with.property('message')
        .that.contains(field);
  });
});
