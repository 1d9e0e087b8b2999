import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { type Installed, installPackage } from './installed.js';

const TOKEN = 'a-token-for-files-of-more-than-32-bytes';
const BIN = 'node_modules/agent-session-gateway/dist/server/cli/main.js';

// `getContext` is the gateway's own only if the command takes the package that the file has.
const SERVER = `import { getContext } from 'agent-session-gateway';
const app = { async *run(turn: { text: string }) { yield 'typed ' + turn.text; } };
export const config = { app, methods: { who: async () => getContext().user!.id } };
`;

describe('the command of the packed package', () => {
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
    installed.write('server.ts', SERVER);
  });
  after(() => installed?.remove());

  const run = (command: string, args: readonly string[], url = ''): Program =>
    runCommand(command, {
      args,
      cwd: installed.project,
      env: {
        GATEWAY_DB: '',
        GATEWAY_TOKEN: TOKEN,
        AGENT_SESSION_GATEWAY_URL: url,
        AGENT_SESSION_GATEWAY_TOKEN: TOKEN,
        npm_config_loglevel: 'error',
        NODE_OPTIONS: '',
      },
      group: true,
    });
  const cli = (args: readonly string[], url?: string) => run(process.execPath, [BIN, ...args], url);
  const urlOf = async (program: Program) => (await program.prints(/^ {2}URL +(http\S+)$/m))[1]!;

  async function answers(args: readonly string[], url: string): Promise<string> {
    const program = cli(args, url);
    expect(await program.exited, program.output).to.equal(0);
    return program.output;
  }

  it('is there for npx, with its version, and runs the demo, which can be talked to and examined', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const asked = run('npx', ['--no-install', 'agent-session-gateway', '--version']);
    expect(await asked.exited).to.equal(0);
    expect(asked.output).to.equal(`${version}\n`);
    const url = await urlOf(run('npx', ['--no-install', 'agent-session-gateway', 'demo', '--port', '0']));
    expect(await answers(['chat', '-m', 'weather in Oslo'], url)).to.contain('in Oslo, 20 °C.');
    expect(await answers(['tail', '--no-follow', '--type', 'message_end'], url)).to.contain('message_end');
    expect(await answers(['doctor'], url)).to.contain('you are the user "demo"');
  });

  it('logs lines of JSON where there is no pino', async () => {
    installed.write('plain.js', "export const app = { async *run() { yield 'x'; } };");
    const program = cli(['start', 'plain.js', '--port', '0', '--db', 'memory']);
    const [, url] = await program.prints(/"message":"started".*"url":"(http[^"]+)"/);
    await fetch(`${url}/apps`, { headers: { authorization: 'Bearer another' } });
    await program.prints(/"level":"warn","message":"a caller was refused"/);
    expect(await program.kill('SIGTERM')).to.equal(0);
    for (const line of program.output.trim().split('\n'))
      expect(JSON.parse(line)).to.include.keys('time', 'level', 'message', 'gateway');
  });

  it('says what TypeScript needs where there is neither tsx nor a Node that loads it', async function () {
    if ((process.features as { typescript?: unknown }).typescript) this.skip();
    const program = cli(['start', '--port', '0', '--db', 'memory']);
    expect(await program.exited).to.equal(2);
    expect(program.output).to.match(
      /^Node \S+ loads no TypeScript by itself: npm install --save-dev tsx, .*\n$/,
    );
    expect(await answers(['doctor', '--db', 'none.db'], '')).to.match(
      /^warning Node: \S+ runs the gateway, but opens no TypeScript files.*\n +To use them, npm install tsx/,
    );
  });

  it('loads TypeScript on a Node that can, and keeps sessions in a file there without a package', async () => {
    const args = ['scripts/on-node.mjs', '24', join(installed.project, BIN), 'dev', '--port', '0'];
    const script = run(process.execPath, [join(ROOT, args[0]!), ...args.slice(1)]);
    const url = await urlOf(script);
    await script.prints(/Sessions are kept in \.agent-session-gateway\/dev\.db\./);
    expect(await answers(['chat', '-m', 'hello'], url)).to.equal('typed hello\n');
    expect(await answers(['invoke', 'who'], url)).to.equal('"token"\n');
  });

  it('loads TypeScript with tsx on any Node', async () => {
    await installed.install('tsx');
    const program = cli(['dev', '--port', '0', '--db', 'memory']);
    const url = await urlOf(program);
    expect(await answers(['chat', '-m', 'hello'], url)).to.equal('typed hello\n');
    expect(await answers(['invoke', 'who'], url)).to.equal('"token"\n');
    installed.write('server.ts', SERVER.replace('typed', 'retyped'));
    await program.prints(/server\.ts changed[\s\S]*Started again\./);
    expect(await answers(['chat', '-m', 'hello'], url)).to.equal('retyped hello\n');
  });
});
