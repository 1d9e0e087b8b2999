import type { PostgresDatabase } from './database.js';
import { storeFailed } from './faults.js';
import { SCHEMA, SCHEMA_VERSION } from './schema.js';

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
      const [row] = await run(`SELECT value FROM $S.meta WHERE name = 'version'`);
      if (row?.value === String(SCHEMA_VERSION)) return;
      throw storeFailed(
        'schema',
        `has a schema ${schema} of another version of this package (${row?.value ?? 'none'}, not ${SCHEMA_VERSION}): use that version, or give postgresStore a new \`schema\``,
      );
    }
    await run('CREATE TABLE $S.meta (name text PRIMARY KEY, value text NOT NULL)');
    await run(SCHEMA);
    await run(`INSERT INTO $S.meta VALUES ('version', $1)`, [String(SCHEMA_VERSION)]);
  });
}
