import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
// @ts-expect-error It has no types.
import { install } from '../../scripts/installed.mjs';
import { textOf } from '../../shared/messages.js';
import { eventOf } from '../behaviour/iteration.js';
import { ROOT, runCommand } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'test/nest/nest11');
// Below the root, so that what Nest 11 does not bring is found in the project's own packages.
const PROJECT = join(ROOT, '.cache/nest11');
const PACKAGE = join(PROJECT, 'node_modules/agent-session-gateway');

/** A project with Nest 11 and this package. */
async function installProject(): Promise<void> {
  install('.cache/nest11', 'test/nest/nest11');
  copyFileSync(join(SOURCE, 'host.mjs'), join(PROJECT, 'host.mjs'));
  await run(process.execPath, ['scripts/bundle/main.mjs', PACKAGE], { cwd: ROOT });
  copyFileSync(join(ROOT, 'package.json'), join(PACKAGE, 'package.json'));
}

describe('GatewayModule in Nest 11', () => {
  before(async function () {
    this.timeout(600_000);
    await installProject();
  });

  for (const platform of ['express', 'fastify']) {
    it(`serves, injects and drains on ${platform}`, async () => {
      const args = ['host.mjs', platform];
      const program = runCommand(process.execPath, { args, cwd: PROJECT });
      const [, url] = await program.prints(/Listening on (\S+)/);
      const client = createClient({ baseUrl: `${url}/api`, extraRoutes: '/_gateway' });
      closeLater(client, (it) => it.disconnect());
      const events = client.events('main', { from: 'earliest' });
      const { message } = await client.send('main', 'hello').result;
      expect(textOf(message)).to.equal('Nest 11 heard hello');
      await eventOf(events, 'message_end');
      expect(await client.invoke('ping')).to.deep.equal({ pong: true });
      expect((await client.session('main').history()).messages).to.have.length(2);
      const end = (id: string) => fetch(`${url}/api/own/${id}/end`, { method: 'POST' });
      expect(await (await end('main')).json()).to.deep.equal({ ok: true, messages: 2 });
      expect((await (await end('none')).json()).error.code).to.equal('SESSION_NOT_FOUND');
      client.disconnect();
      expect(await program.kill('SIGTERM')).to.be.oneOf(['SIGTERM', 0]);
      expect(program.output).to.equal(`Listening on ${url}\n`);
      const { version } = JSON.parse(
        readFileSync(join(PROJECT, 'node_modules/@nestjs/core/package.json'), 'utf8'),
      );
      expect(version).to.match(/^11\./);
    });
  }
});
