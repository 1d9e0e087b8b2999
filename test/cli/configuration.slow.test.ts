import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { textOf } from '../../shared/messages.js';
import { RedisServer } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

const OLD = 'an-old-token-of-more-than-32-bytes-in-all';
const NEW = 'a-new-token-of-more-than-32-bytes-in-all!';
const PORTS = ['--port', '0', '--monitor-port', 'off'];

const server = (limits: string): string =>
  `export default { app: { async *run(turn) { yield turn.text; } }, limits: ${limits} };`;

const connect = (baseUrl: string, token: string) =>
  closeLater(createClient({ baseUrl, token }), (it) => it.disconnect());

async function ask(url: string, token: string): Promise<string> {
  return textOf((await connect(url, token).send('main', 'hello').result).message);
}

const status = async (url: string, token: string): Promise<number> =>
  (await fetch(`${url}/sessions`, { headers: { authorization: `Bearer ${token}` } })).status;

describe('the configuration of start', () => {
  it('is checked without a start', async () => {
    const folder = projectOf({
      'good.js': server('{ queueLength: 3 }'),
      'bad.js': server('{ queueLength: -3 }'),
      token: `${OLD}\n`,
    });
    const check = (file: string, env: Record<string, string> = { GATEWAY_TOKEN_FILE: 'token' }) =>
      runCliIn(folder, ['start', file, '--check'], { GATEWAY_TOKEN: '', GATEWAY_DB: 'data/x.db', ...env });
    const good = check('good.js');
    expect(await good.exited, good.output).to.equal(0);
    expect(good.output).to.contain('good.js is well: default, sessions in data/x.db');
    const bad = check('bad.js');
    expect(await bad.exited).to.equal(2);
    expect(bad.output).to.contain('limits.queueLength: must be');
    const missing = check('good.js', { GATEWAY_TOKEN_FILE: 'nowhere' });
    expect(await missing.exited).to.equal(2);
    expect(missing.output).to.contain('GATEWAY_TOKEN_FILE: nowhere cannot be read (ENOENT)');
    expect(() => readFileSync(join(folder, 'data/x.db')), 'it opens no store').to.throw('ENOENT');
  });

  for (const workers of [[], ['--workers', '2']])
    it(`takes secrets of files, and changes of them, of limits and origins, at SIGHUP ${workers.join(' ')}`, async () => {
      const folder = projectOf({ 'server.js': server('{}'), 'credentials/GATEWAY_TOKEN': OLD });
      const db = workers[1] ? closeLater(await RedisServer.start(), (it) => it.stop()).url : 'memory';
      const program = runCliIn(folder, ['start', ...PORTS, '--db', db, ...workers], {
        ...{ GATEWAY_TOKEN: '', CREDENTIALS_DIRECTORY: 'credentials', npm_lifecycle_event: '' },
      });
      const url = await urlOf(program);
      expect(await ask(url, OLD)).to.equal('hello');
      expect(await status(url, NEW)).to.equal(401);
      writeFileSync(join(folder, 'credentials/GATEWAY_TOKEN'), NEW);
      writeFileSync(
        join(folder, 'server.js'),
        server('{ storeMs: 5000, shared: { sendsPerSecond: 0.001 } }'),
      );
      program.child.kill('SIGHUP');
      await until(
        () => program.output.match(/reloaded: keys, origins and limits/g)?.length === (workers[1] ? 2 : 1),
      );
      await program.prints(/limits\.storeMs.*these options take a restart/);
      expect(await status(url, OLD)).to.equal(401);
      expect(await ask(url, NEW)).to.equal('hello');
      const refused = await fetch(`${url}/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${NEW}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 'other', message: 'more' }),
      });
      if (!workers[1]) expect(refused.status, await refused.text()).to.equal(429);
      writeFileSync(join(folder, 'server.js'), server('{ queueLength: -1 }'));
      program.child.kill('SIGHUP');
      await program.prints(/not reloaded: the gateway goes on as before/);
      expect(await status(url, NEW)).to.equal(200);
      expect(await program.kill('SIGTERM')).to.equal(0);
    });
});
