import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { postgresStore } from '../../server/stores/postgres/index.js';
import { post } from '../support/gateway.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres-server.js';
import { filesWith } from '../support/raw-bytes.js';
import { closeLater } from '../support/resources.js';
import { as } from '../support/users.js';
import { beginSearch, findAll } from './begin.js';

const PLANTED = 'zyxwvutsecretword';

/** The files of a server's tables and indexes that have a text in them. Its write-ahead log keeps what it has, until it is used again. */
async function tablesWith(url: string, text: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('CHECKPOINT');
    const [{ data_directory: folder }] = (await client.query('SHOW data_directory')).rows;
    return filesWith(join(folder, 'base'), text);
  } finally {
    await client.end();
  }
}

describeWithPostgres('the words of what was erased', () => {
  it('are in no table and no index of PostgreSQL', async () => {
    const { url: place } = closeLater(await PostgresServer.start(), (it) => it.remove());
    const { gateway, url, person } = await beginSearch({ store: postgresStore({ url: place }) });
    for (let i = 0; i < 40; i++) {
      await post(`${url}/send`, { sessionId: 'main', message: `${PLANTED} ${i} and more` }, as('ann'));
      await post(`${url}/send`, { sessionId: 'main', message: `what ben said ${i}` }, as('ben'));
    }
    expect(await findAll(person('ann').search, PLANTED)).to.have.length(80);
    expect(await tablesWith(place, PLANTED), 'it was there').to.not.deep.equal([]);
    await gateway.erase({ user: { id: 'ann' } });
    expect(await findAll(person('ann').search, PLANTED)).to.deep.equal([]);
    expect(await tablesWith(place, PLANTED)).to.deep.equal([]);
    // Not even a part of it, as an index has it.
    expect(await tablesWith(place, PLANTED.slice(3))).to.deep.equal([]);
    expect(await findAll(person('ben').search, 'ben')).to.have.length(80);
    await gateway.close();
  });
});
