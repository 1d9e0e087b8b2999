import { expect } from 'chai';
import { describeDaily } from '../support/daily.js';
import { post } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { onTerminal } from '../support/pseudo-terminal.js';
import { CLI, projectOf, runCliIn, urlOf } from './run-cli.js';

const plant = (what: string): string => `PLANTED-${what}-${'x'.repeat(32)}`;
const TOKEN = plant('token');
const FILE = `export const config = {
  app: { async *run({ text }) { if (text.includes('fail')) throw new Error('the app is broken'); yield '${plant('answer')}'; } },
  limits: { bodyBytes: 2000 },
};`;

const project = (files: Readonly<Record<string, string>> = {}): string =>
  projectOf({ 'server.js': FILE, ...files });

/** Whatever a log may have to tell of, with something to hide in each. */
async function provoke(url: string): Promise<void> {
  const own = { authorization: `Bearer ${TOKEN}` };
  await post(`${url}/send`, { sessionId: 'main', message: plant('message') }, own);
  await post(`${url}/send`, { sessionId: 'main', message: `fail ${plant('message')}` }, own);
  await post(`${url}/send`, { sessionId: 'main', message: plant('long').repeat(60) }, own);
  await post(
    `${url}/send`,
    { sessionId: 'main', message: 'x' },
    { authorization: `Bearer ${plant('other')}` },
  );
}

const SAID = [
  'session main: the app failed',
  'a request was refused by limits.bodyBytes',
  'a caller was refused',
];

describeDaily('the log of agent-session-gateway start', 2, () => {
  it('is lines of JSON by pino where it is no terminal, at level info, without anything to hide', async () => {
    const program = runCliIn(project(), ['start', '--port', '0', '--db', 'memory'], { GATEWAY_TOKEN: TOKEN });
    const url = await urlOf(program);
    await provoke(url);
    await post(`${url}/close`, { sessionId: 'main' }, { authorization: `Bearer ${TOKEN}` });
    expect(await program.kill('SIGTERM')).to.equal(0);
    const lines = program.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ...[
        ['info', 'started'],
        ['error', SAID[0]],
        ['warn', SAID[1]],
        ['warn', SAID[2]],
      ],
      ...[
        ['info', 'audit: log-in'],
        ['info', 'audit: close'],
        ['info', 'stopping'],
        ['info', 'stopped'],
      ],
    ]);
    for (const { time, gateway } of lines) {
      expect(time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(gateway).to.equal(lines[0].gateway);
    }
    expect(lines[1].err).to.include({ message: 'the app is broken' });
    expect(program.output).to.not.include('PLANTED');
  });

  it('has the level that LOG_LEVEL or --log-level says', async () => {
    const folder = project();
    const args = ['start', '--port', '0', '--db', 'memory'];
    for (const [flags, level] of [
      [[], 'debug'],
      [['--log-level', 'debug'], 'error'],
    ] as const) {
      const program = runCliIn(folder, [...args, ...flags], { GATEWAY_TOKEN: TOKEN, LOG_LEVEL: level });
      const url = await urlOf(program);
      await provoke(url);
      await program.prints(/"level":"debug".*"operation":"send".*"message":"a call was answered"/);
      expect(program.output).to.not.include('PLANTED');
      await program.kill('SIGTERM');
    }
    const wrong = runCliIn(folder, args, { GATEWAY_TOKEN: TOKEN, LOG_LEVEL: 'loud' });
    expect(await wrong.exited).to.equal(2);
    expect(wrong.output).to.match(/^LOG_LEVEL must be one of trace, debug, info, warn/);
  });

  it('is that of the file where it has one', async () => {
    const folder = project({
      'server.js': `const tell = (level) => (details, message) => console.log('own ' + level + ' ' + message);
${FILE.replace('limits:', "logger: { warn: tell('warn'), error: tell('error') },\n  limits:")}`,
    });
    const program = runCliIn(folder, ['start', '--port', '0', '--db', 'memory'], { GATEWAY_TOKEN: TOKEN });
    const url = await urlOf(program);
    await provoke(url);
    await program.prints(/^own warn a caller was refused$/m);
  });
});

describeDaily('the log on a terminal', 2, () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  for (const [command, args, started] of [
    ['start', ['--port', '0', '--db', 'memory'], /started[\s\S]*url\S*: "(http[^"]+)"/],
    ['dev', ['--port', '0', '--db', 'memory'], /URL\W+(?:\[\d+m)?(http:\/\/[\d.:]+)/],
  ] as const) {
    it(`is lines that people can read, of ${command}`, async () => {
      const program = onTerminal([...CLI, command, ...args], {
        cwd: project(),
        env: { GATEWAY_TOKEN: TOKEN },
      });
      const [, url] = await program.prints(started);
      await provoke(url!);
      await program.prints(/WARN[^\n]*a caller was refused/);
      await program.prints(/ERROR[^\n]*session main: the app failed/);
      expect(program.output).to.not.match(/"level":/);
      expect(program.output.replaceAll(TOKEN, '').replaceAll(encodeURIComponent(TOKEN), '')).to.not.include(
        'PLANTED',
      );
    });
  }

  it('is lines that people can read, of the demo', async () => {
    const program = onTerminal([process.execPath, '--import', 'tsx', 'server/demo/main.ts'], {
      cwd: ROOT,
      env: { PORT: '0', GATEWAY_DB: 'memory', GATEWAY_TOKEN: TOKEN },
    });
    const [, url] = await program.prints(/^ {2}URL\s+(http:\S+)/m);
    await post(`${url}/send`, { sessionId: 'main', message: 'x' }, { authorization: 'Bearer another' });
    await program.prints(/WARN[^\n]*a caller was refused/);
  });
});
