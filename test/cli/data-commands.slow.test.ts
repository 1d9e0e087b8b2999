import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { echo } from '../support/apps.js';
import { describeDaily } from '../support/daily.js';
import { startDurable } from '../support/durable.js';
import type { Program } from '../support/program.js';
import { filesWith } from '../support/raw-bytes.js';
import { closeLater } from '../support/resources.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

const TOKEN = 'a-token-for-files-of-more-than-32-bytes';
const ENV = { GATEWAY_DB: '', GATEWAY_TOKEN: TOKEN };
const PLANTED = 'planted-text \u202e of a person';
const WHOSE = ['--user', 'token'];

const APP = "export const app = { async *run(turn) { yield 'heard ' + turn.text; } };";

/** A folder with a gateway that `start` runs, and something in its sessions. */
async function started() {
  const folder = projectOf({ 'server.js': APP });
  const program = runCliIn(folder, ['start', 'server.js', '--port', '0'], ENV);
  const url = await urlOf(program);
  const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
  await client.send('main', PLANTED).result;
  await client.send('other', 'something else').result;
  const cli = (...args: readonly string[]): Program => runCliIn(folder, args, ENV);
  const output = async (...args: readonly string[]): Promise<string> => {
    const command = cli(...args);
    expect(await command.exited, command.output).to.equal(0);
    return command.output;
  };
  const refusal = async (...args: readonly string[]): Promise<string> => {
    const command = cli(...args);
    expect(await command.exited, command.output).to.equal(2);
    return command.output;
  };
  return { folder, program, client, output, refusal };
}

const messagesOf = (ndjson: string) =>
  ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describeDaily('agent-session-gateway backup, export, erase', 3, function () {
  // Each command is a process.
  this.timeout(5 * 60_000);

  it('are done by the gateway that start runs, while it runs', async () => {
    const { folder, program, client, output, refusal } = await started();
    const history = (await client.session('main').history()).messages;

    const exported = await output('export', 'main');
    expect(messagesOf(exported)).to.deep.equal(history);
    expect(exported, 'what could steer a terminal').to.not.include('\u202e');
    const events = messagesOf(await output('export', 'main', ...WHOSE, '--what', 'events'));
    expect(events.map(({ type }) => type)).to.include('message_end');

    mkdirSync(join(folder, 'backups'));
    expect(await output('backup', 'backups/one.db')).to.include('Copied data/gateway.db to backups/one.db.');
    expect(await refusal('backup', 'backups/one.db')).to.match(/There is something at .*one\.db already/);

    expect(await refusal('erase', ...WHOSE)).to.include('--yes');
    expect(await refusal('erase', '--yes')).to.include('--user');
    expect(await refusal('export', 'never')).to.include('There is no such session');
    expect(await output('erase', 'main', '--yes')).to.equal('Erased 1 session and 0 files.\n');
    expect(filesWith(join(folder, 'data'), 'planted-text')).to.deep.equal([]);
    expect((await client.sessions()).sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['other']);
    expect(await output('erase', ...WHOSE, '--yes')).to.equal('Erased 1 session and 0 files.\n');
    expect((await client.sessions()).sessions).to.deep.equal([]);

    expect(await program.kill('SIGTERM')).to.equal(0);
    expect(existsSync(join(folder, 'data/gateway.db.operator'))).to.equal(false);
    // A copy of all that is made now has nothing of who was erased.
    const copy = await output('export', '--all');
    for (const planted of ['planted', '"token"', 'else']) expect(copy).not.to.include(planted);
    expect(JSON.parse(await output('verify'))).to.include({ sessions: 0, messages: 0 });

    const { gateway } = await startDurable(join(folder, 'backups/one.db'), { app: echo });
    expect((await gateway.session('main', { user: { id: 'token' } }).history()).messages).to.deep.equal(
      history,
    );
  });

  it('are done by the command itself where no gateway runs, also after one that was killed', async () => {
    const { folder, program, client, output, refusal } = await started();
    const history = (await client.session('main').history()).messages;
    await program.kill('SIGKILL');
    expect(existsSync(join(folder, 'data/gateway.db.operator/socket'))).to.equal(true);

    expect(await refusal('export', 'default:main'), 'nobody is a user here').to.include('{ user }');
    expect(messagesOf(await output('export', 'default:main', ...WHOSE))).to.deep.equal(history);
    await output('backup', 'copy.db');
    expect(readFileSync(join(folder, 'copy.db')).includes('planted-text')).to.equal(true);
    expect(await output('erase', ...WHOSE, '--yes', '--no-vacuum')).to.equal(
      'Erased 2 sessions and 0 files.\n',
    );
    expect(await output('erase', '--scope', '[null,"token"]', '--yes')).to.equal(
      'Erased 0 sessions and 0 files.\n',
    );
    expect(filesWith(join(folder, 'data'), 'planted-text')).to.deep.equal([]);
    expect(await refusal('backup', 'x.db', '--db', 'no.db')).to.include('There is no database no.db');
    const again = runCliIn(folder, ['start', 'server.js', '--port', '0'], ENV);
    await again.prints(/"message":"started"/);
    expect(await refusal('export', 'main')).to.include('There is no such session');
  });

  it('say who uses the database where that takes no commands', async () => {
    const { folder, program, refusal } = await started();
    await program.kill('SIGTERM');
    const path = join(folder, 'data/gateway.db');
    const { gateway } = await startDurable(path, { app: echo });
    expect(await refusal('backup', 'copy.db')).to.include('takes no commands');
    expect((await gateway.session('main', { user: { id: 'token' } }).history()).messages).to.have.length(2);
    expect(existsSync(join(folder, 'copy.db'))).to.equal(false);
  });

  it('moves a whole store to another one, and says whether two are the same', async () => {
    const { folder, program, client, output, refusal } = await started();
    expect(await refusal('export', '--all')).to.match(
      /A process uses data\/gateway\.db: stop it, or copy the database/,
    );
    expect(await refusal('export')).to.contain('Say what to export: a session, or --all');
    await output('backup', 'copy.db');
    const copied = await output('verify', '--db', 'copy.db');
    const { cursor } = await client.session('main').state();
    client.disconnect();
    expect(await program.kill('SIGTERM')).to.equal(0);
    writeFileSync(join(folder, 'all.ndjson'), await output('export', '--all'));
    expect(JSON.parse(copied)).to.include({ sessions: 2, logs: 2 });
    expect(await output('import', '--all', 'all.ndjson', '--db', 'moved.db')).to.equal(copied);
    for (const db of ['moved.db', 'data/gateway.db'])
      expect(await output('verify', '--db', db), db).to.equal(copied);
    const again = runCliIn(folder, ['start', 'server.js', '--port', '0', '--db', 'moved.db'], ENV);
    const other = closeLater(createClient({ baseUrl: await urlOf(again), token: TOKEN }), (it) =>
      it.disconnect(),
    );
    expect((await other.session('main').state()).cursor).to.equal(cursor);
    expect((await other.send('main', 'and on').result).stopReason).to.equal('end');
    expect(await refusal('verify', '--db', 'nowhere.db')).to.contain('There is no database nowhere.db');
    writeFileSync(join(folder, 'half.ndjson'), '{"format":1,"of":"agent-session-gateway"}\n{"log":');
    expect(await refusal('import', '--all', 'half.ndjson', '--db', 'half.db')).to.contain(
      'Line 2 of the copy is no JSON',
    );
  });
});
