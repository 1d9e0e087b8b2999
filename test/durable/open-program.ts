import { isGatewayError } from '../../server/index.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';

// Opens the store of its argument and keeps it open, or says why that cannot be done. With `nobody` it gives up root's rights first.
try {
  if (process.argv[3] === 'nobody') {
    await loadDriver();
    process.setgroups?.([]);
    process.setgid?.(65_534);
    process.setuid?.(65_534);
  }
  await sqliteStore({ path: process.argv[2]! }).open();
  console.log('open');
  setInterval(() => {}, 60_000);
} catch (error) {
  if (!isGatewayError(error)) throw error;
  console.log(error.code, (error.details as { reason: string }).reason);
  console.error(error.message);
}
