import { describeWithPostgres } from '../support/postgres-server.js';
import { describeGateways } from './on-a-store.js';
import { postgresPlace } from './postgres-place.js';

describeWithPostgres('gateways that share a PostgreSQL database', () => {
  describeGateways(postgresPlace);
});
