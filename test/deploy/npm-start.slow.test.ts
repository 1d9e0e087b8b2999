import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newDatabase } from '../support/durable.js';
import { jsonHeaders, post, TOKEN } from '../support/gateway.js';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { onTerminal } from '../support/pseudo-terminal.js';
import { until } from '../support/until.js';

/** Waits until the demo has started, and says where. */
async function urlOf(program: Program): Promise<string> {
  await program.prints(/Ctrl\+C/);
  return (await program.prints(/^ {2}URL +(http\S+?)\r?$/m))[1]!;
}

/** Resolves when nobody listens there any more. */
async function isGone(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).text();
    } catch {
      return;
    }
  }
}

describe('npm start', () => {
  it('builds its gateway once, from what there is', async () => {
    const builtAt = async () => {
      const npm = runCommand('npm', {
        args: ['start'],
        env: { PORT: '0', GATEWAY_DB: 'memory' },
        group: true,
      });
      await urlOf(npm);
      await npm.kill('SIGTERM');
      return statSync(join(ROOT, '.cache/demo/main.mjs')).mtimeMs;
    };
    const first = await builtAt();
    expect(first).to.be.above(statSync(join(ROOT, 'server/demo/main.ts')).mtimeMs);
    expect(await builtAt()).to.equal(first);
  });
});

describe('the end of npm start', () => {
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGHUP'] as const) {
    it(`${signal} for npm alone closes the gateway in good order`, async () => {
      const database = newDatabase();
      const env = { PORT: '0', GATEWAY_DB: database };
      const npm = runCommand('npm', { args: ['start'], env, group: true });
      const url = await urlOf(npm);
      expect(existsSync(`${database}-wal`)).to.equal(true);
      npm.child.kill(signal);
      // Its output ends when the last that writes to it, the gateway, has gone.
      await npm.exited;
      await isGone(url);
      // A store that was closed leaves one file; a process that was ended leaves its journal too.
      expect(existsSync(`${database}-wal`)).to.equal(false);
    });
  }

  it('the end of its terminal does too, once the run under way has ended', async () => {
    const database = newDatabase();
    const env = { PORT: '0', GATEWAY_DB: database, GATEWAY_TOKEN: TOKEN };
    const terminal = onTerminal(['npm', 'start'], { env });
    const url = await urlOf(terminal);
    const body = JSON.stringify({ sessionId: 'files', message: 'delete report.txt' });
    const run = await fetch(`${url}/send`, { method: 'POST', headers: jsonHeaders(), body });
    let said = '';
    let asks: RegExpExecArray | null = null;
    const isOver = (async () => {
      for await (const text of run.body!.pipeThrough(new TextDecoderStream())) {
        said += text;
        asks ??= /tool_confirmation_required\n[\s\S]*?"callId":"([^"]+)"/.exec(said);
      }
    })();
    await until(() => asks !== null);
    // The window is closed: the system hangs up on all that run in it.
    terminal.child.kill('SIGKILL');
    while ((await fetch(`${url}/readyz`)).ok);
    const answer = await post(`${url}/tool-response`, {
      sessionId: 'files',
      callId: asks![1],
      approved: true,
    });
    expect(answer.status).to.equal(200);
    await isOver;
    expect(said).to.contain('"stopReason":"end"');
    await isGone(url);
    while (existsSync(`${database}-wal`)) await new Promise(setImmediate);
  });
});
