import type { RedisClientOptions, RedisSentinelOptions } from '@redis/client';
import { type RedisSettings, redisFailed } from './options.js';

/** Options of the library for a connection, without those that the store sets itself. */
export type ClientOptions = Omit<
  RedisClientOptions,
  'url' | 'RESP' | 'modules' | 'scripts' | 'functions' | 'keyPrefix' | 'commandOptions'
>;
/** Options of the library for the connections to Sentinels. */
export type SentinelClientOptions = NonNullable<RedisSentinelOptions['sentinelClientOptions']>;

/** The functions that the store needs of a client library. */
export interface Wire extends RedisConnection {
  /** Whether an error is an answer of Redis. */
  isReply(error: unknown): boolean;
  /** Whether an error says that nothing was sent. */
  isUnsent(error: unknown): boolean;
}

interface RedisConnection {
  /** Sends a command once. @param key The key by which a cluster finds the node */
  send(key: string, args: readonly string[]): Promise<unknown>;
  /** Resolves when the channel is subscribed. If its connection breaks, it is subscribed again by itself. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  destroy(): void;
}

export interface WireEvents {
  /** A connection for commands is back. */
  readonly ready: () => void;
  /** Subscribed channels may have missed news for a while, and are heard again. */
  readonly heard: () => void;
}

/** The interval of signs of life on a connection, and the silence after which it counts as dead. */
const PING_MS = 5000;
const SILENCE_MS = 15_000;
const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 500;
/** The time that a Redis gets which has never been reached. */
const FIRST_CONNECT_MS = 5000;
/** Silence after which a primary under Sentinel may have been replaced, and the time that a replica then has to say that it is its own. */
const DOUBTED_MS = 500;
const CONFIRM_MS = 2000;

/** The protocol version whose replies are lists and not objects. */
const RESP = 2 as const;

type Library = typeof import('@redis/client');

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@redis/client');
  } catch (cause) {
    throw redisFailed(
      'driver',
      'redisStore needs the package @redis/client: npm install @redis/client',
      cause,
    );
  }
}

/** Milliseconds before the next attempt, with jitter, so that gateways do not come all at once. */
export function backOff(tries: number): number {
  const most = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 10));
  return most / 2 + (Math.random() * most) / 2;
}

/** Connects to the Redis of the settings. @throws GatewayError `STORE_FAILED` */
export async function connectWire(settings: RedisSettings, events: WireEvents): Promise<Wire> {
  const library = await loadLibrary();
  const startedAt = performance.now();
  let connected = false;
  const reconnectStrategy = (tries: number, cause: Error): number | Error =>
    connected || performance.now() - startedAt < FIRST_CONNECT_MS ? backOff(tries) : cause;
  const options = {
    ...settings.client,
    maintNotifications: 'disabled',
    disableOfflineQueue: true,
    // The library makes a timer of each command that outlives its answer. Calls are bounded by `limits.storeMs`, connections by `socketTimeout`.
    commandOptions: { timeout: 0 },
    pingInterval: PING_MS,
    socket: { socketTimeout: SILENCE_MS, ...settings.client?.socket, reconnectStrategy },
  } as RedisClientOptions;
  try {
    const connect = settings.cluster ? ofCluster : settings.sentinel ? ofSentinel : ofOne;
    const connection = await connect(library, settings, options, events);
    connected = true;
    return {
      ...connection,
      isReply: (error) => error instanceof library.ErrorReply,
      isUnsent: (error) => error instanceof library.ClientOfflineError,
    };
  } catch (cause) {
    throw redisFailed('unreachable', `Redis cannot be reached: ${(cause as Error).message}`, cause);
  }
}

type Connect = (
  library: Library,
  settings: RedisSettings,
  options: RedisClientOptions,
  events: WireEvents,
) => Promise<RedisConnection>;

/** One connection for commands and one for subscriptions, which Redis may close for being slow. */
const ofOne: Connect = async ({ createClient }, { url }, options, { ready, heard }) => {
  const given = { ...options, RESP, ...(url !== undefined && { url }) };
  const commands = createClient(given);
  const ears = createClient({ ...given, disableOfflineQueue: false });
  for (const client of [commands, ears]) client.on('error', () => {});
  const destroy = (): void => {
    for (const client of [commands, ears]) if (client.isOpen) client.destroy();
  };
  try {
    await Promise.all([commands.connect(), ears.connect()]);
  } catch (error) {
    destroy();
    throw error;
  }
  commands.on('ready', ready);
  ears.on('ready', heard);
  return {
    send: (_, args) => commands.sendCommand(args as string[]),
    subscribe: (channel, listener) => ears.sSubscribe(channel, listener),
    unsubscribe: (channel) => ears.sUnsubscribe(channel),
    destroy,
  };
};

/** User, password and TLS of a URL, which all nodes of a group share. */
function commonOf(options: RedisClientOptions, url: string | undefined): RedisClientOptions {
  if (url === undefined) return options;
  const { protocol, username, password } = new URL(url);
  return {
    ...options,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && {
      socket: { ...options.socket, tls: true } as RedisClientOptions['socket'],
    }),
  } as RedisClientOptions;
}

const ofCluster: Connect = async ({ createCluster }, { cluster, url }, options, { ready, heard }) => {
  const nodes = cluster!.nodes;
  const common = commonOf(options, url ?? nodes[0]);
  const client = createCluster({
    RESP,
    rootNodes: nodes.map((node) => ({ url: node })),
    defaults: common as never,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.destroy();
    throw error;
  }
  // A node reports ready also after its first connection. Only after a break may something have been missed.
  const broken = new Set<string>();
  const addressOf = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;
  client.on('node-reconnecting', (node) => broken.add(addressOf(node)));
  client.on('node-disconnect', (node) => broken.delete(addressOf(node)));
  client.on('node-ready', (node) => {
    if (broken.size > 0) ready();
    broken.delete(addressOf(node));
    heard();
  });
  client.on('sharded-channel-moved-error', heard);
  return {
    send: (key, args) => client.sendCommand(key, false, args as string[]),
    subscribe: (channel, listener) => client.sSubscribe(channel, listener),
    unsubscribe: (channel) => client.sUnsubscribe(channel),
    destroy: () => client.destroy(),
  };
};

/**
 * Commands to a primary that may be replaced. One that stood still meanwhile takes writes again when it wakes up, for about a second and in
 * spite of `min-replicas-to-write`, and all that is lost. So the first answer after a silence is believed once a replica has what the
 * connection has written: a former primary has none left.
 *
 * @param changes How often the primary was replaced so far
 */
function confirmed(send: RedisConnection['send'], changes: () => number): RedisConnection['send'] {
  let heardAt = performance.now();
  let confirming: Promise<void> | null = null;
  const confirm = async (key: string): Promise<void> => {
    const replicas = await send(key, ['WAIT', '1', String(CONFIRM_MS)]);
    if (Number(replicas) < 1)
      throw new Error('No replica has what was written: this may be a former primary');
    heardAt = performance.now();
  };
  return async (key, args) => {
    const before = changes();
    const answer = await send(key, args);
    if (!confirming && performance.now() - heardAt <= DOUBTED_MS) {
      heardAt = performance.now();
      return answer;
    }
    confirming ??= confirm(key).finally(() => {
      confirming = null;
    });
    await confirming;
    if (changes() !== before) throw new Error('The primary was replaced meanwhile');
    return answer;
  };
}

const ofSentinel: Connect = async ({ createSentinel }, { sentinel, url }, options, { ready, heard }) => {
  const client = createSentinel({
    RESP,
    name: sentinel!.name,
    sentinelRootNodes: [...sentinel!.nodes],
    nodeClientOptions: commonOf(options, url) as never,
    ...(sentinel!.client && { sentinelClientOptions: sentinel!.client }),
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.destroy();
    throw error;
  }
  let changes = 0;
  client.on('topology-change', ({ type }) => {
    if (type === 'MASTER_CHANGE') changes += 1;
    ready();
    heard();
  });
  return {
    send: confirmed(
      (_, args) => client.sendCommand(false, args as string[]),
      () => changes,
    ),
    subscribe: (channel, listener) => client.sSubscribe(channel, listener),
    unsubscribe: (channel) => client.sUnsubscribe(channel),
    destroy: () => client.destroy(),
  };
};
