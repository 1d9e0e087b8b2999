import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { APPENDING, RedisServer } from '../../support/redis-server.js';
import type { StartStore, StoreUnderTest } from './store-under-test.js';

const NAME = 'main';
const SENTINELS = 3;
/** Silence after which a Sentinel takes a server for dead, in milliseconds. */
const DOWN_MS = 1000;

/** What the documentation asks of a Redis under Sentinel, with a lag that is seen soon. */
const REPLICATED = [...APPENDING, '--min-replicas-to-write', '1', '--min-replicas-max-lag', '2'];

const replicationOf = (server: RedisServer): string => server.cli('info', 'replication');

/** A primary with two replicas, and three Sentinels that agree by two. Which of them is the primary is theirs to say. */
export class SentinelRedis implements StoreUnderTest {
  readonly kind = 'redis';
  readonly #servers: RedisServer[] = [];
  readonly #sentinels: RedisServer[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'gateway-sentinels-'));
  /** The primary that a test has ended or frozen. */
  #away: RedisServer | null = null;
  up = false;

  get options() {
    const nodes = this.#sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    return { sentinel: { name: NAME, nodes } };
  }

  get port(): number {
    return this.#servers[0]!.port;
  }

  async start(): Promise<void> {
    if (this.#servers.length === 0) await this.#first();
    if (!this.up) await this.#away?.begin();
    this.#away = null;
    this.up = true;
  }

  async #first(): Promise<void> {
    const primary = await RedisServer.start(REPLICATED);
    this.#servers.push(primary);
    for (let replica = 0; replica < 2; replica++)
      this.#servers.push(
        await RedisServer.start([...REPLICATED, '--replicaof', '127.0.0.1', `${primary.port}`]),
      );
    while (!/connected_slaves:2/.test(replicationOf(primary))) await delay(50);
    for (let number = 0; number < SENTINELS; number++) {
      const file = join(this.#folder, `${number}.conf`);
      const rules = [
        `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 2`,
        `sentinel down-after-milliseconds ${NAME} ${DOWN_MS}`,
        `sentinel failover-timeout ${NAME} 5000`,
      ];
      writeFileSync(file, `${rules.join('\n')}\n`);
      this.#sentinels.push(await RedisServer.start([], file));
    }
    const knowAll = (sentinel: RedisServer): boolean =>
      /num-other-sentinels\s+2\s/.test(sentinel.cli('sentinel', 'master', NAME)) &&
      /num-slaves\s+2\s/.test(sentinel.cli('sentinel', 'master', NAME));
    while (!this.#sentinels.every(knowAll)) await delay(100);
  }

  /** The server that takes writes; absent while the Sentinels choose. */
  get #primary(): RedisServer | undefined {
    return this.#servers.find((server) => server !== this.#away && /role:master/.test(replicationOf(server)));
  }

  async kill(): Promise<void> {
    this.#away = this.#primary!;
    this.up = false;
    await this.#away.end();
  }

  /** Kills the primary; resolves when the Sentinels have made one of its replicas the next, and that has the other one. */
  async failOver(): Promise<void> {
    await this.kill();
    await this.#replaced();
  }

  /** Has the primary stand still until it is replaced; then it wakes up, and takes itself for the primary. */
  async outlive(): Promise<void> {
    const former = this.#primary!;
    this.#away = former;
    former.freeze();
    await this.#replaced();
    former.thaw();
    while (!/role:slave/.test(replicationOf(former))) await delay(100);
    this.#away = null;
  }

  async #replaced(): Promise<void> {
    for (let next = this.#primary; ; next = this.#primary) {
      if (next && /connected_slaves:1/.test(replicationOf(next))) return;
      await delay(100);
    }
  }

  async remove(): Promise<void> {
    for (const server of [...this.#sentinels, ...this.#servers]) await server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A Redis with two replicas under three Sentinels, as the documentation asks for it. */
export const sentinelRedisUnderTest: StartStore = async () => new SentinelRedis();
