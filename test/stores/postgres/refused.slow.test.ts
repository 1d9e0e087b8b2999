import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { postgresStore } from '../../../server/stores/postgres/index.js';
import { record, refOf, refusal, TestWriter } from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { describeWithPostgres, newSchema, postgresServer } from '../../support/postgres-server.js';

describeWithPostgres('PostgreSQL, of data that it can never keep', () => {
  it('says so, and writes the next batch under the same number', async () => {
    const { url } = await postgresServer();
    const store = await openStore(postgresStore({ url, schema: newSchema(), allowEphemeral: true }));
    const writer = await TestWriter.acquire(store, refOf());
    const id = randomBytes(6000).toString('base64url');
    const put = { kind: 'note', id, value: '1' };
    expect(await refusal(() => writer.append([record(1)], { records: [put] }))).to.equal('REFUSED');
    writer.batch -= 1;
    expect(await writer.append([record(1)])).to.include({ first: 1, last: 1 });
    expect(await refusal(() => store.changeRecords(refOf(), [put]))).to.equal('REFUSED');
  });
});
