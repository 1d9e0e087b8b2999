import { expect } from 'chai';
import { textOf } from '../../../shared/messages.js';
import { until } from '../../support/until.js';
import { serve } from '../served.js';
import { ToldAgent } from './told-agent.js';

async function start(options: Parameters<ToldAgent['app']>[0] = {}, mode?: string) {
  const agent = new ToldAgent();
  return { agent, ...(await serve(agent.app(options, mode))) };
}

describe('an agent of acpApp', () => {
  it('that dies ends the run with a code and what it had said; its words go to the log alone', async () => {
    const { client, log, agent } = await start();
    const result = await client.send('main', 'die').result;
    expect([result.stopReason, result.error?.code, textOf(result.message)]).to.deep.equal([
      ...['error', 'UPSTREAM_FAILED', 'Half'],
    ]);
    expect(JSON.stringify(result)).to.not.contain('hunter2');
    const [failed] = log.lines.filter(({ message }) => message.includes('the app failed'));
    expect(String((failed!.details as any).err)).to.match(/hunter2/);
    const next = await client.send('main', 'tell').result;
    expect(textOf(next.message), 'another takes its session up').to.equal('s1 ["die","tell"]');
    expect(agent.started).to.have.length(2);
  });

  it('that dies is started again where the app wants it, and pages have one clean answer', async () => {
    const { client, agent } = await start({ onFault: 'again' });
    const { stopReason, message } = await client.send('main', 'dieonce').result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
    expect(agent.started).to.have.length(2);
    const dying = await client.send('main', 'die').result;
    expect([dying.stopReason, textOf(dying.message)]).to.deep.equal(['error', 'Half']);
    expect(agent.started).to.have.length(4);
  });

  for (const [what, mode, options] of [
    ['does not answer', 'silent', { startMs: 300 }],
    ['speaks another version', 'old', {}],
    ['is not there', 'load', { command: '/nowhere/agent' }],
    ['has no folder', 'load', { cwd: '/nowhere/folder' }],
  ] as const)
    it(`that ${what} ends the run with a code, and leaves no process`, async () => {
      const { client, agent } = await start(options, mode);
      const { stopReason, error } = await client.send('main', 'tell').result;
      expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
      if (agent.started.length > 0 && agent.lines('started.txt')[0] !== '') await agent.gone();
    });

  it('that writes a line without an end is ended, with what it had said', async () => {
    const { client, agent } = await start({ messageBytes: 100_000 });
    const { stopReason, error, message } = await client.send('main', 'endless').result;
    expect([stopReason, error?.code, textOf(message)]).to.deep.equal(['error', 'UPSTREAM_FAILED', 'Well, ']);
    await agent.gone();
  });

  it('that refuses a prompt ends the run with a code, and is asked again', async () => {
    const { client, agent } = await start();
    const { error } = await client.send('main', 'refuse').result;
    expect(error?.code).to.equal('UPSTREAM_FAILED');
    expect(JSON.stringify(error)).to.not.contain('hunter2');
    expect((await client.send('main', 'tell').result).stopReason).to.equal('end');
    expect(agent.started).to.have.length(1);
  });

  it('that writes what is no message of the protocol is heard all the same', async () => {
    const { client } = await start();
    const { message } = await client.send('main', 'garbage').result;
    expect(textOf(message)).to.equal('Fine.');
  });

  it('that says a lot is told whole, and what it says behind the end is of no run', async () => {
    const { agent, client } = await start();
    expect(textOf((await client.send('main', 'flood').result).message)).to.equal('x'.repeat(3_000));
    await client.send('main', 'late').result;
    await until(() => agent.lines('late.txt').length > 0);
    const { message } = await client.send('main', 'tell').result;
    expect(textOf(message)).to.equal('s1 ["flood","late","tell"]');
  });
});
