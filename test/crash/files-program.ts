import { createGateway, defineApp } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import '../support/shipped-limits.js';

/** A gateway that keeps files beside its database, for a test that kills it. */
const [path, unnamedFileMs] = process.argv.slice(2);
const gateway = createGateway({
  port: 0,
  auth: { type: 'none' },
  store: sqliteStore({ path: path! }),
  limits: { unnamedFileMs: Number(unnamedFileMs) },
  app: defineApp({ run: () => 'ok' }),
});
gateway.start().then(({ url }) => console.log(`listening on ${url}`));
