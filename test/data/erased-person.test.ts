import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { filesBelow } from '../support/raw-bytes.js';
import { describeErasedPerson } from './erased-person.js';

describeErasedPerson('SQLite', async () => {
  const path = newDatabase();
  return {
    store: sqliteStore({ path }),
    bytes: () =>
      filesBelow(dirname(path))
        .map((file) => readFileSync(file, 'latin1'))
        .join(''),
  };
});
