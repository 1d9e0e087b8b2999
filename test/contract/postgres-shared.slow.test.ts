import { describeWithPostgres } from '../support/postgres-server.js';
import { postgresPlace } from './postgres-place.js';
import { describeSharedStore } from './store-shared.js';

describeWithPostgres('PostgreSQL shared by several gateways', () => {
  describeSharedStore('postgres', postgresPlace);
});
