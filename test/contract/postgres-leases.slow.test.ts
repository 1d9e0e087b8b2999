import { describeWithPostgres } from '../support/postgres-server.js';
import { postgresPlace } from './postgres-place.js';
import { describeLeases } from './store-leases.js';

describeWithPostgres('PostgreSQL shared by several gateways', () => {
  describeLeases('postgres', postgresPlace);
});
