import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { TOKEN } from '../support/gateway.js';
import type { Program } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';
import { runCliIn, urlOf } from './run-cli.js';

const APP = "export const app = { async *run(turn) { yield 'You said: ' + turn.text; } };";

describe('agent-session-gateway start --standby', () => {
  let folder: string;
  const start = (...args: readonly string[]): Program =>
    runCliIn(folder, ['start', '--port', '0', ...args], { GATEWAY_TOKEN: TOKEN, GATEWAY_DB: 'kept.db' });
  const said = async (url: string) =>
    (await connectClient(url).session('main').history()).messages.map(textOf);

  beforeEach(() => {
    folder = tempDir();
    writeFileSync(join(folder, 'server.mjs'), APP);
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`takes over when the process that uses the database ends by ${signal}`, async () => {
      const first = start();
      const url = await urlOf(first);
      await connectClient(url).send('main', 'one').result;
      const second = start('--standby');
      await second.prints(/"message":"waiting"/);
      await first.kill(signal);
      const next = await urlOf(second);
      expect(await said(next)).to.deep.equal(['one', 'You said: one']);
      expect(await second.kill('SIGTERM')).to.equal(0);
    });
  }

  it('is told to end while it waits, and without the option a start fails at once', async () => {
    const first = start();
    await urlOf(first);
    const second = start('--standby');
    await second.prints(/"message":"waiting"/);
    expect(await second.kill('SIGTERM')).to.equal(0);
    const third = start();
    expect(await third.exited).to.equal(2);
    expect(third.output).to.contain('in use by another process');
  });
});
