import { expect } from 'chai';
import { textOf } from '../../../shared/messages.js';
import { serve } from '../served.js';
import { ToldAgent } from './told-agent.js';

async function start(options: Parameters<ToldAgent['app']>[0] = {}, mode?: string) {
  const agent = new ToldAgent();
  return { agent, ...(await serve(agent.app(options, mode))) };
}

describe('an agent of claudeAgentApp', () => {
  it('that dies ends the run with a code and what it had said; its words go to the log alone', async () => {
    const { client, log, agent } = await start();
    const result = await client.send('main', 'die').result;
    await agent.gone();
    expect([result.stopReason, result.error?.code, textOf(result.message)]).to.deep.equal([
      ...['error', 'UPSTREAM_FAILED', 'Half'],
    ]);
    expect(JSON.stringify(result)).to.not.contain('hunter2');
    const [failed] = log.lines.filter(({ message }) => message.includes('the app failed'));
    expect(String((failed!.details as any).err)).to.match(/hunter2/);
    const next = await client.send('main', 'tell').result;
    expect(textOf(next.message), 'another takes its session up').to.equal('s2 ["die","tell"]');
  });

  it('that dies is started again where the app wants it, and pages have one clean answer', async () => {
    const { client, agent } = await start({ onFault: 'again' });
    const { stopReason, message } = await client.send('main', 'dieonce').result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
    expect(agent.started).to.have.length(2);
    const dying = await client.send('main', 'die').result;
    expect([dying.stopReason, textOf(dying.message)]).to.deep.equal(['error', 'Half']);
    expect(agent.started).to.have.length(2 + 3 * 2);
  });

  for (const [what, mode, options] of [
    ['does not say a word', 'silent', { startMs: 300 }],
    ['is not there', '', { options: { executable: '/nowhere/node' } }],
    ['has no folder', '', { cwd: '/nowhere/folder' }],
  ] as const)
    it(`that ${what} ends the run with a code, and leaves no process`, async () => {
      const { client, agent } = await start(options, mode);
      const { stopReason, error } = await client.send('main', 'tell').result;
      expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
      if (agent.started.length > 0) await agent.gone();
    });

  it('that writes a line without an end is ended, with what it had said', async () => {
    const { client, agent, log } = await start({ messageBytes: 100_000 });
    const { stopReason, error, message } = await client.send('main', 'endless').result;
    expect([stopReason, error?.code, textOf(message)]).to.deep.equal(['error', 'UPSTREAM_FAILED', 'Well, ']);
    expect(JSON.stringify(log.lines.map(({ details }) => String((details as any)?.err)))).to.contain(
      'too long',
    );
    await agent.gone();
  });

  it('that fails ends the run with a code, and its reason goes to the log alone', async () => {
    const { client } = await start();
    const result = await client.send('main', 'refuse').result;
    expect([result.stopReason, result.error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
    expect(JSON.stringify(result)).to.not.contain('hunter2');
  });

  it('that comes to a bound of the host has its answer cut', async () => {
    const { client } = await start();
    const { stopReason, message } = await client.send('main', 'turns').result;
    expect([stopReason, textOf(message)]).to.deep.equal(['max_tokens', 'So far.']);
  });

  it('that writes what is no message of the protocol is heard all the same', async () => {
    const { client } = await start();
    const { message, stopReason } = await client.send('main', 'garbage').result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'Fine.']);
  });

  it('that the SDK can not read ends the run with a code, and leaves no process', async () => {
    const { client, agent } = await start();
    const { stopReason, error, message } = await client.send('main', 'nothing').result;
    expect([stopReason, error?.code, textOf(message)]).to.deep.equal(['error', 'UPSTREAM_FAILED', 'Well, ']);
    await agent.gone();
  });

  it('that takes long for an answer may, once it has begun', async () => {
    const { client } = await start({ startMs: 2_000 });
    expect(textOf((await client.send('main', 'slow').result).message)).to.equal('Well, done.');
  });

  it('that says a lot is told whole', async () => {
    const { client } = await start();
    expect(textOf((await client.send('main', 'flood').result).message)).to.equal('x'.repeat(3_000));
  });
});
