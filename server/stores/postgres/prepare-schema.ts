import type { PostgresDatabase } from './database.js';
import { storeFailed } from './faults.js';
import { SCHEMA, SCHEMA_HASH, SCHEMA_VERSION } from './schema.js';

/** Lock that keeps two gateways from creating a schema at once: any number that other programs are not likely to use. */
const LOCK = 0x41534757;

/**
 * Creates the schema if there is none.
 *
 * @throws GatewayError `STORE_FAILED`
 */
export async function prepareSchema(database: PostgresDatabase, schema: string): Promise<void> {
  await database.transaction(async (run) => {
    await run('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema]);
    const [there] = await run('SELECT oid FROM pg_namespace WHERE nspname = $1', [schema]);
    // A user without the right to create schemas can be given an empty one.
    if (!there) await run('CREATE SCHEMA $S');
    const tables = await run('SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace', [
      database.schema,
    ]);
    const isOurs = tables.some(({ relname }) => relname === 'meta');
    if (tables.length > 0 && !isOurs)
      throw storeFailed(
        'foreign',
        `has a schema ${schema} of another program: give postgresStore one of its own`,
      );
    if (isOurs) {
      const rows = await run(`SELECT name, value FROM $S.meta`);
      const { version = 'none', made } = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
      if (version === String(SCHEMA_VERSION) && made === SCHEMA_HASH) return;
      const differs =
        version === String(SCHEMA_VERSION)
          ? `version ${version} with other tables or functions`
          : `${version}, not ${SCHEMA_VERSION}`;
      throw storeFailed(
        'schema',
        `has a schema ${schema} of another version of this package (${differs}): use that version, or give postgresStore a new \`schema\` and move the sessions with \`export --all\` and \`import --all\``,
      );
    }
    await run('CREATE TABLE $S.meta (name text PRIMARY KEY, value text NOT NULL)');
    await run(SCHEMA);
    await run(`INSERT INTO $S.meta VALUES ('version', $1), ('made', $2)`, [
      String(SCHEMA_VERSION),
      SCHEMA_HASH,
    ]);
  });
}
