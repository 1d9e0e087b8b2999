import { createHash } from 'node:crypto';
import { expect } from 'chai';
import * as postgres from '../../server/stores/postgres/schema.js';
import * as sqlite from '../../server/stores/sqlite/schema.js';

/** Each schema as it was when its version was set. With another schema the version rises, so that a database of before is refused. */
const KNOWN = {
  SQLite: [17, '72bbbd705db15e0f'],
  PostgreSQL: [11, '09db725dd399694c'],
} as const;

describe('the version of a schema', () => {
  for (const [name, { SCHEMA, SCHEMA_VERSION }] of Object.entries({ SQLite: sqlite, PostgreSQL: postgres }))
    it(`changes with it (${name})`, () => {
      const hash = createHash('sha256').update(SCHEMA).digest('hex').slice(0, 16);
      expect([SCHEMA_VERSION, hash]).to.deep.equal(KNOWN[name as keyof typeof KNOWN]);
    });
});
