import { expect } from 'chai';
import { postgresStore } from '../../../server/stores/postgres/index.js';
import type { Store } from '../../../server/stores/store.js';
import { records, refOf, refusal, TestWriter } from '../../../testing/stores/records.js';
import { openStore } from '../../support/open-store.js';
import { describeWithPostgres, newSchema, PostgresServer } from '../../support/postgres-server.js';
import { CUTS, CutLine } from './cut-line.js';
import { describeMembers } from './describe-members.js';

/** As a server whose messages are Czech has it: the word is as long. */
const inCzech = (chunk: Buffer): Buffer => {
  const said = chunk.toString('latin1');
  return said.includes('SERROR\0') ? Buffer.from(said.replaceAll('SERROR\0', 'SCHYBA\0'), 'latin1') : chunk;
};

for (const [language, reword, cuts] of [
  ['English', undefined, CUTS],
  // What nobody refuses is the same in any language.
  ['Czech', inCzech, []],
] as const)
  describeWithPostgres(`store contract over a line that breaks: PostgreSQL that speaks ${language}`, () => {
    let server: PostgresServer;
    const schema = newSchema();

    before(async () => {
      server = await PostgresServer.start({ fsync: 'off' });
      const store = await opened(server.url);
      await full.make();
      await store.close();
    });
    after(() => server.remove());

    const opened = async (url: string): Promise<Store> => {
      return openStore(postgresStore({ url, schema, leaseMs: 2000, allowEphemeral: true, pool: { max: 1 } }));
    };

    const TABLES = ['log', 'session', 'meta', 'record'];

    /** A disk that is full, while a row says so. */
    const full = {
      name: '53100',
      make: async () => {
        await server.sql(`CREATE TABLE ${schema}.disk (full_at int)`);
        await server.sql(`CREATE FUNCTION ${schema}.disk_full() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN
          IF EXISTS (SELECT FROM ${schema}.disk) THEN
            RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100';
          END IF;
          RETURN NULL;
        END$f$`);
        for (const table of TABLES)
          await server.sql(`CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE OR DELETE ON ${schema}.${table}
            FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.disk_full()`);
      },
      begin: () => server.sql(`INSERT INTO ${schema}.disk VALUES (1)`),
      end: () => server.sql(`DELETE FROM ${schema}.disk`),
    };

    it('says of a batch that is refused that it was not written, at once', async () => {
      const line = await CutLine.to(server.port, reword);
      const store = await opened(server.urlAt(line.port));
      const writer = await TestWriter.acquire(store, refOf('refused'));
      await full.begin();
      expect(await refusal(() => writer.append(records(1, 1)))).to.equal('UNAVAILABLE');
      await full.end();
    });

    describeMembers(() => ({
      refusing: [full],
      cuts,
      async open() {
        const line = await CutLine.to(server.port, reword);
        const [store, beside] = [await opened(server.urlAt(line.port)), await opened(server.url)];
        return { store, beside, arm: (hit) => line.arm(hit), disarm: () => line.disarm() };
      },
    }));
  });
