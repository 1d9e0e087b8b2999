import { GatewayError } from '../../../shared/errors.js';
import type { ClientOptions, SentinelClientOptions } from './wires.js';

/**
 * A promise about writes that Redis has answered, kept by its settings `appendonly` and `appendfsync`.
 * - `always`: it is on the disk.
 * - `everysec`: it is in the operating system's hands, and a loss of power takes up to the last second. Readers of what was lost get a `gap`.
 *   A run that was lost ends as `lost`, or its sender gets `RUN_NOT_FOUND` where nothing is left of it, and its key can run again.
 * - `none`: nothing, once Redis ends.
 *
 * A failover to a replica that lags behind loses what the replica does not have, whatever this says.
 */
export type RedisDurability = 'always' | 'everysec' | 'none';

/** The address of Redis, and how the store uses it. */
export interface RedisStoreOptions {
  /**
   * `redis://[[user][:password]@]host[:port][/database]`; `rediss:` for TLS. With `cluster` or `sentinel` only the user, the password and
   * TLS are taken from it, which all their nodes share.
   */
  readonly url?: string;
  /** Some of the nodes of a Redis Cluster. The others are found through them. */
  readonly cluster?: { readonly nodes: readonly string[] };
  /** Sentinels that know the master, and the master's name. */
  readonly sentinel?: {
    readonly name: string;
    readonly nodes: readonly { readonly host: string; readonly port: number }[];
    /** Options for connections to the sentinels themselves: their password, TLS. */
    readonly client?: SentinelClientOptions;
  };
  /** The prefix of every key. Gateways that share their sessions have the same. @default 'asg' */
  readonly prefix?: string;
  /** Milliseconds of silence after which a gateway counts as dead. The same on all of them. @default 10000 */
  readonly leaseMs?: number;
  /** A Redis that keeps less than this of the writes that it has answered is refused. @default 'always' */
  readonly durability?: RedisDurability;
  /** Options of the package `@redis/client`, for each connection: certificates, credentials, timeouts. */
  readonly client?: ClientOptions;
}

/** The options with their defaults. */
export interface RedisSettings extends RedisStoreOptions {
  readonly prefix: string;
  readonly leaseMs: number;
  readonly durability: RedisDurability;
}

/** Reason why a Redis cannot be used; `details.reason` of the error. */
export type RedisFailure =
  | 'driver'
  | 'unreachable'
  | 'refused'
  | 'ephemeral'
  | 'eviction'
  | 'version'
  | 'format'
  | 'options';

/** The error of a Redis that cannot be used. */
export function redisFailed(reason: RedisFailure, message: string, cause?: unknown): GatewayError {
  return new GatewayError({
    code: 'STORE_FAILED',
    message,
    details: { reason },
    ...(cause !== undefined && { cause }),
  });
}

const SHORTEST_LEASE_MS = 100;

/** Checks options and fills in defaults. @throws GatewayError `STORE_FAILED` */
export function settingsOf(options: RedisStoreOptions): RedisSettings {
  const { prefix = 'asg', leaseMs = 10_000, durability = 'always' } = options;
  const { url, cluster, sentinel } = options;
  const wrong = (text: string): GatewayError => redisFailed('options', `redisStore: ${text}`);
  if (cluster && sentinel) throw wrong('`cluster` and `sentinel` exclude one another');
  if (!cluster && !sentinel && url === undefined) throw wrong('`url` says where Redis is');
  if (cluster && cluster.nodes.length === 0) throw wrong('`cluster.nodes` names no node');
  if (sentinel && sentinel.nodes.length === 0) throw wrong('`sentinel.nodes` names no sentinel');
  if (prefix === '' || /[{}]/.test(prefix)) throw wrong('`prefix` must have a character, and no braces');
  if (!(leaseMs >= SHORTEST_LEASE_MS && leaseMs < 2 ** 31))
    throw wrong(`\`leaseMs\` must be ${SHORTEST_LEASE_MS} at least`);
  if (!['always', 'everysec', 'none'].includes(durability))
    throw wrong("`durability` must be 'always', 'everysec' or 'none'");
  return { ...options, prefix, leaseMs, durability };
}
