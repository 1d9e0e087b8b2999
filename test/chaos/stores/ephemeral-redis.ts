import { RedisServer } from '../../support/redis-server.js';
import type { StartStore } from './store-under-test.js';

/**
 * A Redis that writes nothing down: what ends it ends all that it had.
 *
 * @param healMs How long gateways know what they wrote; 0: not at all
 */
export const ephemeralRedisUnderTest =
  (healMs: number): StartStore =>
  async () => {
    let server: RedisServer | null = null;
    let up = false;
    return {
      kind: 'redis',
      options: { allowEphemeral: true, healMs },
      get port() {
        return server!.port;
      },
      get up() {
        return up;
      },
      async start() {
        if (server) await server.begin();
        else server = await RedisServer.start(['--appendonly', 'no']);
        up = true;
      },
      async kill() {
        await server?.end();
        up = false;
      },
      remove: () => server?.stop(),
    };
  };
