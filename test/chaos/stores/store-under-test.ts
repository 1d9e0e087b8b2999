import type { RedisStoreOptions } from '../../../server/stores/redis/index.js';

/** How a gateway process opens the store: plain JSON, which it is given when it is started. */
export interface StoreSpec {
  readonly kind: 'redis' | 'postgres';
  readonly host: string;
  readonly port: number;
  readonly leaseMs: number;
  /** Further ones, of a Redis. */
  readonly options?: Pick<RedisStoreOptions, 'durability' | 'sentinel'>;
}

/** The store that the gateways of a chaos test share: a process of its own, which can be ended and lose things. */
export interface StoreUnderTest {
  readonly kind: StoreSpec['kind'];
  /** Where it listens on loopback, once it was started: the same after each start, and another one after `failOver`. */
  readonly port: number;
  /** What gateways have to open it with. */
  readonly options?: StoreSpec['options'];
  readonly up: boolean;
  start(): Promise<void>;
  /** Ends it with SIGKILL: what it has written to the operating system is kept. */
  kill(): Promise<void>;
  /**
   * Ends it so that what it answered last is forgotten when it starts, as after a loss of power. Absent where it never forgets.
   *
   * @returns how much was forgotten, in bytes
   */
  killForgetful?(): Promise<number>;
  /** Ends it with SIGKILL, and has a replica take its place that lags behind. Absent where there are no replicas. */
  failOver?(): Promise<void>;
  /**
   * Cuts all connections and has no room for new ones. Returns a function that ends that. Absent where there is no such bound.
   *
   * @param spare Connections for which there is room. @default 0
   */
  exhaust?(spare?: number): Promise<() => Promise<void>>;
  /** Has no room for data. Returns a function that makes some. Absent where tests cannot bring it about. */
  readonly fill?: (() => Promise<() => Promise<void>>) | undefined;
  /** Ends it for good, with what it kept. */
  remove(): unknown;
}

/** Makes a store that is not started yet; its files go to a directory that is removed after it. */
export type StartStore = (options: {
  readonly directory: string;
  readonly leaseMs: number;
}) => Promise<StoreUnderTest>;
