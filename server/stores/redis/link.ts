import { StoreError } from '../append.js';
import type { RedisSettings } from './options.js';
import type { ScriptCall } from './script.js';
import { backOff, connectWire, type Wire } from './wires.js';

/** Errors that only mean that the command must be sent again. */
const PASSING = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|FAILOVER|NOREPLICAS|BUSY) ?/;
/** Errors that mean that nothing was done. */
const REFUSED =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|NOAUTH|NOPERM|WRONGPASS|NOSCRIPT|BUSY|NOREPLICAS|MOVED|ASK)\b/;
/** Redis may use no more memory (`maxmemory`). */
const FULL = /^OOM\b/;
/** Commands that change nothing. Without a reply to one of them, nothing is in doubt. */
const READS =
  /^(GET|HGET|HMGET|HKEYS|HVALS|HGETALL|HLEN|EXISTS|ZCARD|ZRANGE|ZRANGEBYSCORE|ZRANGEBYLEX|INFO|CONFIG|SCAN)$/;

/** The least time for which a command is sent again. */
const LEAST_TRIED_MS = 2000;

/** Turns a refusal of a later step into doubt, since an earlier step of the call has already changed something. */
export function inDoubt(error: unknown): never {
  if (!(error instanceof StoreError) || error.code !== 'UNAVAILABLE') throw error;
  throw new StoreError('UNKNOWN', error.message, { cause: error });
}

/** Called when the connection is back. */
interface LinkWatcher {
  resumed(): void;
  /** Another Redis process may answer now, which has forgotten its last moments. */
  replaced(): void;
}

/**
 * The connection to Redis. A command without a reply is sent again with the same bytes, so every command must bear being done twice. It is
 * given up after a lease, since others have taken over by then. If any attempt at a write may have been made, the write stays in doubt,
 * whatever a later attempt replies.
 */
export class Link {
  readonly #settings: RedisSettings;
  readonly #watchers = new Set<LinkWatcher>();
  readonly #heard = new Set<() => void>();
  readonly #waiters = new Set<() => void>();
  #wire: Wire | null = null;
  #isBroken = false;
  #process: string | null = null;
  /** The time of the last reconnection, by the process's clock. */
  connectedAt = Number.NEGATIVE_INFINITY;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
  }

  async open(): Promise<void> {
    this.#wire = await connectWire(this.#settings, {
      ready: () => this.#resume(),
      heard: () => {
        for (const heard of this.#heard) heard();
      },
    });
    this.#process = await this.#identify();
  }

  #resume(): void {
    this.#isBroken = false;
    this.connectedAt = performance.now();
    for (const waiter of this.#waiters) waiter();
    for (const watcher of this.#watchers) watcher.resumed();
    void this.#compare();
  }

  async #compare(): Promise<void> {
    const before = this.#process;
    const now = await this.#identify();
    this.#process = now;
    if (now === null || now !== before) for (const watcher of this.#watchers) watcher.replaced();
  }

  /** The identity of the Redis process; null if it does not say, and in a Cluster, which has several. */
  async #identify(): Promise<string | null> {
    if (this.#settings.cluster) return null;
    const info = await this.once('', ['INFO', 'server']).catch(() => null);
    return /^run_id:(\w+)/m.exec(String(info))?.[1] ?? null;
  }

  close(): void {
    const wire = this.#wire;
    this.#wire = null;
    for (const waiter of this.#waiters) waiter();
    wire?.destroy();
  }

  get isOpen(): boolean {
    return this.#wire !== null;
  }

  /** Returns a function that stops this. */
  watch(watcher: LinkWatcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Calls back after each time in which news may have been missed. */
  onHeard(heard: () => void): void {
    this.#heard.add(heard);
  }

  /**
   * Runs a script.
   *
   * @param once Does not repeat the script while it is in doubt, since a second run would reply differently.
   * @throws StoreError
   */
  async run({ script, key, words }: ScriptCall, once = false): Promise<unknown> {
    const { writes } = script;
    try {
      const asked = ['EVALSHA', script.hash, ...words];
      return await this.#send(key, asked, { writes, once, isDoubtful: false });
    } catch (error) {
      if (!this.#isAnswer((error as Error).cause, /^NOSCRIPT/)) throw error;
      // Redis forgets scripts when it ends, and may have run this one before.
      const isDoubtful = (error as StoreError).code === 'UNKNOWN';
      return this.#send(key, ['EVAL', script.source, ...words], { writes, once, isDoubtful });
    }
  }

  /** Sends a command until it is answered. @throws StoreError */
  send(key: string, args: readonly string[]): Promise<unknown> {
    return this.#send(key, args, { writes: !READS.test(args[0]!), isDoubtful: false });
  }

  async #send(
    key: string,
    args: readonly string[],
    {
      writes,
      once = false,
      isDoubtful,
    }: { readonly writes: boolean; readonly once?: boolean; isDoubtful: boolean },
  ): Promise<unknown> {
    const startedAt = performance.now();
    for (let tries = 0; ; tries++) {
      try {
        const answer = await this.#open.send(key, args);
        // Not every client reports a reconnection.
        if (this.#isBroken) this.#resume();
        return answer;
      } catch (error) {
        if (error instanceof StoreError) throw error;
        const isReply = this.#isAnswer(error, /^/);
        const passes = !isReply || this.#isAnswer(error, PASSING);
        isDoubtful ||= !this.#wire?.isUnsent(error) && !this.#isAnswer(error, REFUSED);
        const isTried = once && isDoubtful;
        if (
          !passes ||
          isTried ||
          performance.now() - startedAt > Math.max(LEAST_TRIED_MS, this.#settings.leaseMs)
        )
          throw new StoreError(
            writes && isDoubtful ? 'UNKNOWN' : 'UNAVAILABLE',
            `Redis cannot be used: ${(error as Error).message}`,
            { cause: error, isFull: this.#isAnswer(error, FULL) },
          );
        this.#isBroken = true;
        await this.#pause(backOff(tries));
      }
    }
  }

  /** Sends a command once, if it must not be done twice. Null without a reply. @throws StoreError if Redis has no room */
  async once(key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#open.send(key, args);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      if (!this.#isAnswer(error, FULL)) return null;
      const { message } = error as Error;
      throw new StoreError('UNAVAILABLE', `Redis cannot be used: ${message}`, { cause: error, isFull: true });
    }
  }

  /** Resolves when the channel is heard. @throws StoreError */
  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    try {
      await this.#open.subscribe(channel, listener);
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      throw new StoreError('UNAVAILABLE', `Redis cannot be used: ${(cause as Error).message}`, { cause });
    }
  }

  /** If a channel cannot be unsubscribed now, nobody listens to it anyway. */
  async unsubscribe(channel: string): Promise<void> {
    await this.#wire?.unsubscribe(channel).catch(() => {});
  }

  get #open(): Wire {
    if (!this.#wire) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#wire;
  }

  /** Whether the error is a reply of Redis and matches the pattern; not one of a lost connection. */
  #isAnswer(error: unknown, pattern: RegExp): boolean {
    return (this.#wire?.isReply(error) ?? false) && pattern.test((error as Error).message);
  }

  /** Waits until the connection is back, or for some time. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      this.#waiters.add(over);
    });
  }
}
