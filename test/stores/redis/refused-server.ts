import { expect } from 'chai';
import { type RedisStoreOptions, redisStore } from '../../../server/stores/redis/index.js';
import { GatewayError } from '../../../shared/errors.js';
import { openStore } from '../../support/open-store.js';
import { RedisServer } from '../../support/redis-server.js';
import { closeLater } from '../../support/resources.js';

/** What a store says of a Redis, or of options, that cannot be. */
export async function refused(options: RedisStoreOptions): Promise<GatewayError> {
  try {
    await openStore(redisStore(options));
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError);
    expect((error as GatewayError).code).to.equal('STORE_FAILED');
    return error as GatewayError;
  }
  throw new Error('it was taken');
}

/** A Redis of the test's own. */
export const start = async (...options: string[]): Promise<RedisServer> =>
  closeLater(await RedisServer.start(options), (it) => it.stop());
