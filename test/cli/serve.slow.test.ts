import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, createClient } from '../../client/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import { describeDaily } from '../support/daily.js';
import type { Program } from '../support/program.js';
import { onTerminal, type PseudoTerminal } from '../support/pseudo-terminal.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';
import { CLI, projectOf, runCliIn, urlOf } from './run-cli.js';

const TOKEN = 'a-token-for-files-of-more-than-32-bytes';
const DURABLE = { GATEWAY_DB: '', GATEWAY_TOKEN: TOKEN };

const saying = (word: string) => `export const app = { async *run(turn) { yield '${word} ' + turn.text; } };`;

/** The address that `dev` tells on its page of text. */
async function pageOf(program: Program): Promise<string> {
  const [, url] = await program.prints(/URL\W+(?:\[\d+m)?(http:\/\/[\d.:]+)/);
  return url!;
}

function connect(url: string, token = TOKEN): Client {
  return closeLater(createClient({ baseUrl: url, token }), (it) => it.disconnect());
}

async function ask(client: Client, text = 'hello'): Promise<string> {
  return textOf((await client.send('main', text).result).message);
}

describeDaily('agent-session-gateway dev', 3, () => {
  it('serves the app of a file, starts again when a source changes, and clients go on', async () => {
    const folder = projectOf({
      'server.ts':
        "import { word } from './lib/word.js';\nenum Mark { End = '!' }\nexport const app = { async *run(turn: { text: string }) { yield word + turn.text + Mark.End; } };",
      'lib/word.ts': "export const word: string = 'one ';",
    });
    const program = runCliIn(folder, ['dev', '--port', '0'], DURABLE);
    const url = await pageOf(program);
    const client = connect(url);
    const seen: GatewayEvent[] = [];
    const events = client.events('main', { from: 'earliest' });
    void (async () => {
      for await (const event of events) seen.push(event);
    })();
    expect(await ask(client)).to.equal('one hello!');

    // As editors save: another file takes the place of the old one.
    writeFileSync(join(folder, 'lib/word.ts~'), "export const word: string = 'two ';");
    renameSync(join(folder, 'lib/word.ts~'), join(folder, 'lib/word.ts'));
    await program.prints(/lib\/word\.ts changed; starting again\.\n[\s\S]*Started again\. http/);
    expect(await ask(client)).to.equal('two hello!');
    await until(() => seen.filter(({ type }) => type === 'message_end').length === 2);
    expect(seen.filter(({ type }) => type === 'gap')).to.deep.equal([]);
    const cursors = seen.map(({ cursor }) => Number(cursor?.split('.').at(-1)));
    expect(cursors.filter(Number.isFinite)).to.deep.equal(cursors.map((_, at) => at + 1));

    writeFileSync(join(folder, 'lib/word.ts'), 'export const word = ;');
    await program.prints(/word\.ts:1:\d+[\s\S]*Waiting for a change\./);
    writeFileSync(join(folder, 'lib/word.ts'), "export const word = 'three ';");
    await until(() => program.output.match(/Started again/g)?.length === 2);
    expect(await ask(client)).to.equal('three hello!');
    expect(readFileSync(join(folder, '.agent-session-gateway/.gitignore'), 'utf8')).to.equal('*\n');
    expect(await program.kill('SIGTERM')).to.equal(0);
    expect(await fetch(`${url}/healthz`).catch(() => 'gone')).to.equal('gone');
  });

  it('takes apps, a configuration, a gateway or nothing it knows, and says what', async () => {
    const run = 'async *run(turn) { yield turn.text; }';
    const kinds: readonly (readonly [string, string])[] = [
      [`export default { one: { ${run} }, two: { ${run} } };`, 'two:main'],
      [`export const config = { apps: { one: { ${run} } }, defaultApp: 'one' };`, 'main'],
      [
        `import { createGateway } from 'agent-session-gateway';\nexport const gateway = createGateway({ port: 0, app: { ${run} }, auth: { type: 'token', token: '${TOKEN}' } });`,
        'main',
      ],
    ];
    for (const [text, session] of kinds) {
      const program = runCliIn(
        projectOf({ 'gateway.js': text }),
        ['dev', '--port', '0', '--db', 'memory'],
        DURABLE,
      );
      const client = connect(await pageOf(program));
      expect(textOf((await client.send(session, 'yes').result).message)).to.equal('yes');
      await program.kill('SIGTERM');
    }
    const nothing = runCliIn(projectOf({ 'app.js': 'export const other = 1;' }), ['dev', '--db', 'memory']);
    await nothing.prints(/app\.js exports nothing to serve: export a gateway.*\nWaiting for a change\./);
  });

  it('makes up a token that stays while it runs, and lets nobody in without', async () => {
    const folder = projectOf({ 'app.mjs': saying('hi') });
    const program = runCliIn(folder, ['dev', '--port', '0', '--db', 'memory'], { GATEWAY_TOKEN: '' });
    const url = await pageOf(program);
    expect(new URL(url).hostname).to.equal('127.0.0.1');
    const [, token] = await program.prints(/token +(\S+)\n/);
    expect((await fetch(`${url}/status`)).status).to.equal(401);
    writeFileSync(join(folder, 'app.mjs'), saying('again'));
    await program.prints(/Started again/);
    expect(await ask(connect(url, token!))).to.equal('again hello');
  });

  it('starts again by itself when its page has it killed, and keeps what is kept', async () => {
    const folder = projectOf({ 'app.mjs': saying('hi') });
    const program = runCliIn(folder, ['dev', '--port', '0', '--db', 'kept.db'], DURABLE);
    const url = await pageOf(program);
    const client = connect(url);
    expect(await ask(client)).to.equal('hi hello');
    const kill = (headers = {}) => fetch(`${url}/_kill`, { method: 'POST', headers });
    expect((await kill()).status).to.equal(401);
    // It may be gone before it has answered.
    await kill({ authorization: `Bearer ${TOKEN}` }).catch(() => {});
    await program.prints(/Killed from the playground; starting again\.\nStarted again\. http/);
    expect(await ask(client, 'again')).to.equal('hi again');
    const { messages } = await client.session('main').history();
    expect(messages.map(textOf)).to.deep.equal(['hello', 'hi hello', 'again', 'hi again']);
    expect(await program.kill('SIGTERM')).to.equal(0);
  });

  it('ends with its worker when it is killed', async () => {
    const folder = projectOf({ 'app.mjs': saying('hi') });
    const program = runCliIn(folder, ['dev', '--port', '0', '--db', 'memory'], DURABLE);
    const url = await pageOf(program);
    // The pipe is closed when the last that writes to it, the worker, is gone.
    await program.kill('SIGKILL');
    expect(await fetch(`${url}/healthz`).catch(() => 'gone')).to.equal('gone');
  });

  it('reads an environment file, and says what is wrong in one sentence', async () => {
    const folder = projectOf({
      'app.mjs': 'export default { async *run() { yield process.env.WORD; } };',
      '.env': 'WORD=written',
    });
    const args = ['dev', '--port', '0', '--db', 'memory', '--env-file', '.env'];
    expect(await ask(connect(await pageOf(runCliIn(folder, args, DURABLE))))).to.equal('written');
    const none = runCliIn(projectOf({}), ['dev']);
    expect(await none.exited).to.equal(2);
    expect(none.output).to.match(/^No file is named, .*`demo`.*\n$/);
    const missing = runCliIn(folder, ['dev', 'none.ts']);
    expect(await missing.exited).to.equal(2);
    expect(missing.output).to.equal('There is no file none.ts\n');
  });

  describeDaily('on a terminal', 3, () => {
    before(function () {
      if (process.platform !== 'linux') this.skip();
    });

    const devOn = (folder: string, env: Record<string, string> = {}): PseudoTerminal =>
      onTerminal([...CLI, 'dev', '--port', '0', '--db', 'memory'], {
        cwd: folder,
        env,
      });

    it('opens the URL with o, restarts with r, clears with c and quits with q', async () => {
      const folder = projectOf({ 'app.mjs': saying('hi') });
      writeFileSync(join(folder, 'browser'), `#!/bin/sh\necho "$1" > '${join(folder, 'opened')}'\n`);
      chmodSync(join(folder, 'browser'), 0o755);
      const program = devOn(folder, { BROWSER: join(folder, 'browser') });
      await program.shows(/q quits/);
      const url = await pageOf(program);
      const opened = () => {
        try {
          return readFileSync(join(folder, 'opened'), 'utf8');
        } catch {
          return '';
        }
      };
      program.types('o');
      await until(() => opened() !== '');
      expect(opened()).to.match(new RegExp(`^${url}/#token=[\\w-]{43}\n$`));
      program.types('r');
      await program.shows(/Started again/);
      program.types('c');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what empties a screen
      await program.shows(/\u001b\[0?J/);
      program.types('q');
      expect(await program.exited).to.equal(0);
    });

    it('quits at Ctrl+C', async () => {
      const program = devOn(projectOf({ 'app.mjs': saying('hi') }));
      await program.shows(/q quits/);
      program.types('\x03');
      expect(await program.exited).to.equal(0);
    });
  });
});

describeDaily('agent-session-gateway start', 3, () => {
  it('serves a file, logs in JSON, and lets runs finish at SIGTERM', async () => {
    const folder = projectOf({
      'server.js':
        "export const config = { app: { async *run({ text }) { yield 'a '; await new Promise((done) => setTimeout(done, 300)); yield text; } } };",
    });
    const program = runCliIn(folder, ['start', '--port', '0'], { ...DURABLE, GATEWAY_DB: 'kept.db' });
    const url = await urlOf(program);
    const client = connect(url);
    const run = client.send('main', 'b');
    for await (const text of run.text) {
      expect(text).to.equal('a ');
      break;
    }
    expect(await program.kill('SIGTERM')).to.equal(0);
    const lines = program.output.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).message)).to.deep.equal(['started', 'stopping', 'stopped']);

    const again = runCliIn(folder, ['start', 'server.js', '--port', '0'], {
      ...DURABLE,
      GATEWAY_DB: 'kept.db',
    });
    const next = await urlOf(again);
    const { messages } = await connect(next).session('main').history();
    expect(messages.map(textOf)).to.deep.equal(['b', 'a b']);
  });

  it('wants auth, or a token, and a port that is free', async () => {
    const folder = projectOf({ 'app.js': saying('hi') });
    const open = runCliIn(folder, ['start', '--port', '0', '--db', 'memory'], { GATEWAY_TOKEN: '' });
    expect(await open.exited).to.equal(2);
    expect(open.output).to.match(/^\S+app\.js has no `auth`: write it, or set GATEWAY_TOKEN; .*\n$/);
    const first = runCliIn(folder, ['start', '--port', '0', '--db', 'memory'], DURABLE);
    const url = await urlOf(first);
    const { port } = new URL(url);
    const taken = runCliIn(folder, ['start', '--port', port, '--db', 'memory'], DURABLE);
    expect(await taken.exited).to.equal(2);
    expect(taken.output).to.contain(`Port ${port} on 127.0.0.1 is in use`);
  });
});

describeDaily('agent-session-gateway demo', 3, () => {
  it('is the demo, in memory or with --db', async () => {
    const folder = tempDir();
    const first = runCliIn(folder, ['demo', '--port', '0', '--db', 'demo.db'], DURABLE);
    const url = await pageOf(first);
    expect(first.output).to.contain('Sessions are kept in demo.db');
    expect(await ask(connect(url), 'weather in Oslo')).to.contain('in Oslo, 20 °C.');
    expect(await first.kill('SIGTERM')).to.equal(0);
    const second = runCliIn(folder, ['demo', '--port', '0'], { GATEWAY_TOKEN: '' });
    await second.prints(/kept in memory[\s\S]*GATEWAY_TOKEN=\S+ npx agent-session-gateway demo/);
    const wrong = runCliIn(folder, ['demo', '--port', 'http']);
    expect(await wrong.exited).to.equal(2);
    expect(wrong.output).to.contain('It must be a number from 0 to 65535.');
  });
});
