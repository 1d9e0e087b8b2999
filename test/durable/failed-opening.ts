import { isGatewayError } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';

/** What opening a database fails with. */
export async function failure(path: string): Promise<{ code: string; reason: unknown; message: string }> {
  const store = sqliteStore({ path });
  try {
    await store.open();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { code: error.code, reason: (error.details as { reason: string }).reason, message: error.message };
  }
  await store.close();
  throw new Error('the store opened');
}
