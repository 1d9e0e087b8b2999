import { type Keys, PARTITIONS } from './keys.js';
import type { Link } from './link.js';
import { type RedisSettings, redisFailed } from './options.js';

/** The format of keys and values. Another one is refused. */
const FORMAT = `4 ${PARTITIONS}`;
const OLDEST_REDIS = 7.0;
const OLDEST_VALKEY = 7.2;

function infoOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const end = line.indexOf(':');
      return end < 0 ? [] : [[line.slice(0, end), line.slice(end + 1)] as const];
    }),
  );
}

/** A setting of Redis, or the error that it answers with. */
async function settingOf(link: Link, keys: Keys, name: string): Promise<unknown> {
  const asked = await link.send(keys.format, ['CONFIG', 'GET', name]).catch((error: Error) => error);
  return Array.isArray(asked) ? asked[1] : asked;
}

/**
 * Checks whether a master that Sentinel may replace takes writes without a replica, which are then lost with it.
 *
 * @throws GatewayError `STORE_FAILED`
 */
async function checkReplicas(link: Link, keys: Keys): Promise<void> {
  const least = await settingOf(link, keys, 'min-replicas-to-write');
  const lag = await settingOf(link, keys, 'min-replicas-max-lag');
  if (Number(least) >= 1 && Number(lag) >= 1) return;
  throw redisFailed(
    'ephemeral',
    "This Redis is one of a Sentinel's and takes writes without a replica, which a failover loses: set `min-replicas-to-write 1` and `min-replicas-max-lag` on the master and its replicas, of which it takes two, or accept such a loss by `durability: 'everysec'` in the options of redisStore",
  );
}

/** Checks whether Redis has each write on the disk before it answers. @throws GatewayError `STORE_FAILED` */
async function checkSync(link: Link, keys: Keys): Promise<void> {
  const setting = await settingOf(link, keys, 'appendfsync');
  if (setting === 'always') return;
  const why =
    typeof setting === 'string'
      ? `has \`appendfsync ${setting}\`, so a loss of power takes its last moments: set \`appendfsync always\` there`
      : `does not say how it writes to the disk (\`CONFIG GET appendfsync\`: ${setting instanceof Error ? setting.message : 'no answer'}): allow that`;
  throw redisFailed(
    'ephemeral',
    `This Redis ${why}, or accept such a loss by \`durability: 'everysec'\` in the options of redisStore (\`?durability=everysec\` in a URL)`,
  );
}

/**
 * Checks whether this Redis can keep the store's promises.
 *
 * @returns whether it is a Cluster, also one that is used as a single server
 * @throws GatewayError `STORE_FAILED`; its message names the setting
 */
export async function checkRedis(
  link: Link,
  keys: Keys,
  { durability, leaseMs, sentinel }: RedisSettings,
): Promise<boolean> {
  const info = infoOf(String(await link.send(keys.format, ['INFO'])));
  const valkey = info.get('valkey_version');
  const version = valkey ?? info.get('redis_version') ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major + minor / 10 < (valkey ? OLDEST_VALKEY : OLDEST_REDIS))
    throw redisFailed('version', `redisStore needs Redis 7.0 or Valkey 7.2; this is ${version}`);
  if (durability !== 'none' && info.get('aof_enabled') !== '1')
    throw redisFailed(
      'ephemeral',
      "This Redis forgets what it has when it ends: set `appendonly yes` there, or `durability: 'none'` in the options of redisStore (`?durability=none` in a URL) to have it so",
    );
  if (durability === 'always') await checkSync(link, keys);
  if (durability === 'always' && sentinel) await checkReplicas(link, keys);
  const policy = info.get('maxmemory_policy');
  if (Number(info.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction')
    throw redisFailed(
      'eviction',
      `This Redis drops keys when its memory is full (\`maxmemory-policy ${policy}\`): set \`maxmemory-policy noeviction\``,
    );
  await link.send(keys.format, ['SET', keys.format, FORMAT, 'NX']);
  const format = await link.send(keys.format, ['GET', keys.format]);
  if (format !== FORMAT)
    throw redisFailed(
      'format',
      `The keys of the prefix \`${keys.prefix}\` are of format ${format}, and this version uses ${FORMAT}: use another \`prefix\``,
    );
  // Redis has just begun, and its members may not be back yet.
  const isNew = Number(info.get('uptime_in_seconds') ?? 0) * 1000 < leaseMs;
  if (isNew && Number(await link.send(keys.nodes, ['ZCARD', keys.nodes])) > 0)
    link.connectedAt = performance.now();
  return info.get('cluster_enabled') === '1';
}
