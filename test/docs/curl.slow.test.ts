import { expect } from 'chai';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { createDemoGateway } from '../../server/demo/demo-gateway.js';
import { readPage } from '../support/pages.js';
import { runCommand } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKENS = { admin: 'the-token-of-an-admin-of-32-bytes-', guest: 'the-token-of-a-guest-of-32-bytes--' };

describe('the page of the wire protocol', () => {
  it('begins with a recipe for curl that does all of it: send, send again, leave, come back, consent, abort, read, close', async () => {
    const gateway = createDemoGateway({ app: createDemoApp(1), tokens: TOKENS, port: 0 });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const [, recipe] = /^```sh\n([\s\S]*?)^```$/m.exec(readPage('docs/protocol.md'))!;
    const marked = recipe!.replace(/^# (\d)\..*$/gm, 'echo; echo "step $1: $PLACE"');
    const command = runCommand('bash', { args: ['-c', marked], env: { URL: url!, TOKEN: TOKENS.admin } });
    expect(await command.exited, command.output).to.equal(0);
    const steps = command.output.split(/^step \d: (.*)$/m);
    const [, , first, , second, , , resumedAt, fourth, , fifth, , sixth, , seventh, , eighth] =
      steps as string[];
    expect(first)
      .to.match(/^event: message_accepted$/m)
      .and.to.match(/^event: message_end$/m);
    const runId = /"runId":"([^"]+)"/.exec(first!)![1];
    expect(JSON.parse(second!)).to.deep.include({ runId, stopReason: 'end' });
    const seq = (cursor: string) => Number(cursor.trim().split('.').at(-1));
    expect(seq(fourth!)).to.equal(seq(resumedAt!) + 1);
    const [accepted, answered] = fifth!.trim().split(/(?=\{"ok")/);
    expect(JSON.parse(accepted!).runId).to.be.a('string').and.not.equal(runId);
    expect(JSON.parse(answered!)).to.deep.equal({ ok: true });
    expect(JSON.parse(sixth!)).to.deep.equal({ aborted: true });
    const { messages } = JSON.parse(seventh!) as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role).slice(0, 3)).to.deep.equal(['user', 'assistant', 'user']);
    expect(JSON.parse(eighth!)).to.deep.equal({ ok: true });
  });
});
