import { isGatewayError } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';

// Opens the store of its argument and keeps it open, or says why that cannot be done.
try {
  await sqliteStore({ path: process.argv[2]! }).open();
  console.log('open');
  setInterval(() => {}, 60_000);
} catch (error) {
  if (!isGatewayError(error)) throw error;
  console.log(error.code, (error.details as { reason: string }).reason);
  console.error(error.message);
}
