import { StoreError } from '../store.js';
import type { RedisSettings } from './options.js';
import type { Script } from './script.js';
import { backOff, connectWire, type Wire } from './wires.js';

/** Answers that say nothing about the command but that it is to be sent again. */
const PASSING = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|FAILOVER|NOREPLICAS|BUSY) ?/;
/** Answers that say that nothing was done. */
const REFUSED =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|NOAUTH|NOPERM|WRONGPASS|NOSCRIPT|BUSY|NOREPLICAS|MOVED|ASK)\b/;
/** Commands that change nothing: of one without an answer nothing has to be known. */
const READS =
  /^(GET|HGET|HMGET|HKEYS|HVALS|HGETALL|HLEN|EXISTS|ZCARD|ZRANGE|ZRANGEBYSCORE|ZRANGEBYLEX|INFO|PUBSUB)$/;

/** How long holders are given to write again what a Redis has forgotten that was begun anew: they have to reach it first. */
const SETTLE_MS = 1000;

/** How long a command is sent again at least. */
const LEAST_TRIED_MS = 2000;

/** Of a call that has changed something already, it is unknown what becomes of it where a later step is refused. */
export function inDoubt(error: unknown): never {
  if (!(error instanceof StoreError) || error.code !== 'UNAVAILABLE') throw error;
  throw new StoreError('UNKNOWN', error.message, { cause: error });
}

/**
 * The way to Redis. What has no answer is sent again with the same bytes, so that everything sent has to bear being done twice.
 * Given up after a lease: by then others have taken over. Of what changes anything it is unknown from then on whether it was made, if
 * any of the tries may have been: what is said of a later try takes nothing of that doubt.
 */
export class Link {
  readonly #settings: RedisSettings;
  readonly #resumed = new Set<() => void>();
  readonly #heard = new Set<() => void>();
  readonly #waiters = new Set<() => void>();
  #wire: Wire | null = null;
  #isBroken = false;
  /** How often it was connected again. */
  #resumes = 0;
  /** Resolves when what Redis says can be believed. */
  #settling: Promise<void> = Promise.resolve();
  /** How many waits for that are under way. */
  #unsettled = 0;
  #process: string | null = null;
  /** When it was last connected again, by the process's clock. */
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
    this.#resumes += 1;
    // A connection that breaks again meanwhile takes nothing from the time that holders have.
    this.#unsettled += 1;
    this.#settling = Promise.all([this.#settling, this.#settle()]).then(() => {
      this.#unsettled -= 1;
    });
    for (const waiter of this.#waiters) waiter();
    for (const resumed of this.#resumed) resumed();
  }

  /** Where Redis is another process than before, it may have forgotten its last moments: those who know them come first. */
  async #settle(): Promise<void> {
    const before = this.#process;
    this.#process = await this.#identify();
    if (before !== null && this.#process === before) return;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }

  /** What tells a process of Redis from any other; null in a Cluster, which has several. */
  async #identify(): Promise<string | null> {
    if (this.#settings.cluster) return null;
    const info = await this.once('', ['INFO', 'server']).catch(() => null);
    return /^run_id:(\w+)/m.exec(String(info))?.[1] ?? null;
  }

  /** Whether holders have been given the time to write again what Redis may have forgotten. */
  get isSettled(): boolean {
    return this.#unsettled === 0;
  }

  /** Looks at something that Redis may have forgotten. What it says meanwhile is not believed. */
  async believed<Answer>(look: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      await this.#settling;
      const resumes = this.#resumes;
      const answer = await look();
      if (resumes === this.#resumes || !this.#wire) return answer;
    }
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

  /** Calls back each time it is connected again, until that is not wanted any more. */
  onResumed(resumed: () => void): () => void {
    this.#resumed.add(resumed);
    return () => void this.#resumed.delete(resumed);
  }

  /** Calls back after each time in which news may have been missed. */
  onHeard(heard: () => void): void {
    this.#heard.add(heard);
  }

  /**
   * Runs a script.
   *
   * @param once It is not run again where it is unknown whether it was: done twice it would answer another thing.
   * @throws StoreError
   */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    once = false,
  ): Promise<unknown> {
    const { writes } = script;
    const rest = [String(keys.length), ...keys, ...args];
    try {
      const asked = ['EVALSHA', script.hash, ...rest];
      return await this.#send(keys[0]!, asked, { writes, once, isDoubtful: false });
    } catch (error) {
      if (!this.#isAnswer((error as Error).cause, /^NOSCRIPT/)) throw error;
      // Redis forgets scripts when it ends, and may have run this one before.
      const isDoubtful = (error as StoreError).code === 'UNKNOWN';
      return this.#send(keys[0]!, ['EVAL', script.source, ...rest], { writes, once, isDoubtful });
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
        // Not every client says that it was connected again.
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
            { cause: error },
          );
        this.#isBroken = true;
        await this.#pause(backOff(tries));
      }
    }
  }

  /** Sends a command once, for what must not be done twice. Null where there is no answer. */
  async once(key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#open.send(key, args);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return null;
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

  /** A channel that cannot be unsubscribed now is one that nobody hears. */
  async unsubscribe(channel: string): Promise<void> {
    await this.#wire?.unsubscribe(channel).catch(() => {});
  }

  get #open(): Wire {
    if (!this.#wire) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#wire;
  }

  /** Whether it is an answer of Redis, and none that was lost on the way. */
  #isAnswer(error: unknown, pattern: RegExp): boolean {
    return (this.#wire?.isReply(error) ?? false) && pattern.test((error as Error).message);
  }

  /** Until the connection stands again, or for a time. */
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
