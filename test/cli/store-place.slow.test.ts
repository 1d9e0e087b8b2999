import { join } from 'node:path';
import { expect } from 'chai';
import { shownPlace } from '../../server/runtime/store-at.js';
import { textOf } from '../../shared/messages.js';
import { connectClient, failure } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { TOKEN } from '../support/gateway.js';
import type { Program } from '../support/program.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

/** Each command is a process. */
const TIMEOUT = 5 * 60_000;
const ENV = { GATEWAY_TOKEN: TOKEN };
const APP = "export const app = { async *run(turn) { yield 'heard ' + turn.text; } };";

/** A folder with a file to serve, and commands in it. */
function project() {
  const folder = projectOf({ 'server.js': APP });
  const cli = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
    runCliIn(folder, args, { ...ENV, ...env });
  const ends = async (code: number, args: readonly string[], env = {}): Promise<string> => {
    const program = cli(args, env);
    expect(await program.exited, program.output).to.equal(code);
    return program.output;
  };
  return { folder, cli, ends };
}

describe('where the commands keep sessions', function () {
  this.timeout(TIMEOUT);

  it('is said plainly to be none for a URL of anything else, without its password', async () => {
    const { ends } = project();
    for (const command of ['start', 'export']) {
      const args = command === 'export' ? ['export', 'default:main', '--user', 'ada'] : [command];
      const said = await ends(2, args, { GATEWAY_DB: 'mysql://root:secret@127.0.0.1/db' });
      expect(said).to.contain('Sessions cannot be kept at mysql://').and.contain('redis://');
      expect(said).to.not.contain('secret').and.not.contain('    at ');
    }
    const alone = await ends(2, ['sessions', '--held-by'], { GATEWAY_DB: 'memory' });
    expect(alone).to.contain('--db names no database that gateways share');
  });

  for (const scheme of ['redis', 'postgres']) {
    it(`is found by doctor not to answer, at ${scheme}:// where nobody listens`, async () => {
      const { ends } = project();
      const port = await freePort();
      const said = await ends(1, ['doctor', '--db', `${scheme}://ada:secret@127.0.0.1:${port}/0`]);
      expect(said).to.contain(`database ${scheme}://127.0.0.1:${port}/0`).and.contain('docs/cluster.md');
      expect(said).to.not.contain('secret');
    });
  }
});

for (const store of SHARED_STORES) {
  store.describe(`commands on ${store.name}`, () => {
    it('serve what several share: what one was told, the others know', async () => {
      const { folder, cli, ends } = project();
      const GATEWAY_DB = await store.start();
      const env = { GATEWAY_DB, GATEWAY_FILES: join(folder, 'files') };
      // None of them waits for another.
      const start = () => cli(['start', 'server.js', '--port', '0', '--standby'], env);
      const programs = [start(), start()];
      const clients = await Promise.all(programs.map(async (it) => connectClient(await urlOf(it))));
      const [one, other] = clients;
      expect((await one!.send('main', 'hello').result).stopReason).to.equal('end');
      expect(textOf((await other!.send('main', 'again').result).message!)).to.equal('heard again');
      const { messages } = await one!.session('main').history();
      expect(messages.map(textOf)).to.deep.equal(['hello', 'heard hello', 'again', 'heard again']);
      expect(programs[0]!.output)
        .to.contain(`"db":"${shownPlace(GATEWAY_DB)}"`)
        .and.not.contain('in the memory of');

      expect(await ends(0, ['doctor', '--db', GATEWAY_DB])).to.contain('as many gateways as share it');
      const whose = ['--user', 'token'];
      const exported = await ends(0, ['export', 'default:main', ...whose], env);
      expect(
        exported
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).to.deep.equal(messages);
      expect(await ends(2, ['backup', 'copy.db'], env)).to.contain('cannot make backups');
      const held = await ends(0, ['sessions', '--held-by', '--json'], env);
      const { sessionId, holder, alive } = JSON.parse(held.trim());
      expect({ sessionId, alive }).to.deep.equal({ sessionId: 'default:main', alive: true });
      const by = (gateway: string) => ends(0, ['sessions', '--held-by', gateway], env);
      expect(await by(holder)).to.match(/^alive +\S+ {2}default:main {2}/);
      expect(await by('gw_never')).to.equal('');
      expect(await ends(0, ['erase', 'default:main', ...whose, '--yes'], env)).to.contain('1 session');
      expect(await failure(other!.session('main').history())).to.include({ code: 'SESSION_NOT_FOUND' });
      for (const program of programs) expect(await program.kill('SIGTERM')).to.equal(0);
    }).timeout(TIMEOUT);

    it('warn where gateways share the sessions, and not the files', async () => {
      const url = await store.start();
      const program = project().cli(['start', '--port', '0', '--db', url]);
      await urlOf(program);
      expect(program.output).to.contain('uploads are kept in the memory of this process');
    }).timeout(TIMEOUT);

    it('are told where sessions are by the demo', async () => {
      const url = await store.start();
      const program = project().cli(['demo', '--port', '0', '--db', url]);
      await program.prints(/Ctrl\+C/);
      expect(program.output).to.contain(
        `Sessions are kept in ${shownPlace(url)}, which other gateways may share.`,
      );
      expect(await program.kill('SIGTERM')).to.equal(0);
    }).timeout(TIMEOUT);
  });
}
