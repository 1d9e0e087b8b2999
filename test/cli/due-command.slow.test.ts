import { join } from 'node:path';
import { expect } from 'chai';
import { burying } from '../../server/due/dead.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { projectOf, runCliIn } from './run-cli.js';

describe('agent-session-gateway due', function () {
  // Each command is a process.
  this.timeout(5 * 60_000);

  it('lists what was given up, and has it tried again once', async () => {
    const folder = projectOf({});
    const home = { scope: 'ann' };
    const store = sqliteStore({ path: join(folder, 'my.db') });
    await store.open();
    const record = { home, kind: 'report', id: 'weekly', value: '{"own":1,"attempts":2}', token: 1 };
    const failed = { at: Date.UTC(2026, 10, 1), error: 'no paper' };
    await store.changeRecords(home, [burying(record, { attempts: 3, failed })]);
    await store.close();
    const cli = async (...args: readonly string[]): Promise<readonly [unknown, string]> => {
      const command = runCliIn(folder, ['due', ...args, '--db', 'my.db'], { GATEWAY_DB: '' });
      return [await command.exited, command.output];
    };
    const [code, line] = await cli();
    expect([code, line]).to.deep.equal([0, line]);
    expect(line).to.match(
      /^due_[\w-]{16} {2}2026-11-01T00:00:00\.000Z {2}- {2}report weekly {2}3 attempts: no paper/,
    );
    const listed = JSON.parse((await cli('--json'))[1]) as { readonly id: string };
    expect(listed).to.include({ kind: 'report', name: 'weekly', scope: 'ann', error: 'no paper' });
    expect((await cli('retry', listed.id))[1]).to.include(`${listed.id} is tried again.`);
    const [again, said] = await cli('retry', listed.id);
    expect([again, said]).to.deep.equal([2, said]);
    expect(said).to.include(`There is no given-up work ${listed.id}`);
    expect((await cli())[1]).to.equal('');
    await store.open();
    const [revived] = await store.records({ home, kind: 'report', id: 'weekly', limit: 1 });
    expect(JSON.parse(revived!.value)).to.include({ own: 1 }).and.not.to.have.property('attempts');
    await store.close();
  });
});
