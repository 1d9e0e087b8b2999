import { describeWithPostgres } from '../support/postgres-server.js';
import { whileTheirClockJumps } from './on-a-clock.js';
import {
  describeGateways,
  whileItsServerIsAway,
  whileItsServerIsSilent,
  whileItsServerIsThere,
} from './on-a-store.js';
import { postgresPlace } from './postgres-place.js';

describeWithPostgres('gateways that share a PostgreSQL database', () => {
  describeGateways(postgresPlace, [
    whileItsServerIsThere,
    whileItsServerIsAway,
    whileItsServerIsSilent,
    whileTheirClockJumps,
  ]);
});
