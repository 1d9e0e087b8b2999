import type { News } from '../append.js';
import { decodeNews } from './events.js';
import type { Link } from './link.js';

type RedisWake = (news?: News) => void;

/** Callbacks for news of sessions. Each channel is subscribed once, however many callbacks wait. */
export class RedisWatches {
  readonly #link: Link;
  readonly #channels = new Map<string, Set<RedisWake>>();
  /** Channels that are being unsubscribed. A new subscription must wait, lest it is removed with the old one. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param lookMs Wakes all at this interval in milliseconds, since a group of servers may not report that one was unreachable. */
  constructor(link: Link, lookMs: number | undefined) {
    this.#link = link;
    link.onHeard(() => this.wakeAll());
    if (lookMs !== undefined) this.#timer = setInterval(() => this.wakeAll(), lookMs).unref();
  }

  /** Calls `wake` after each news, once the channel is subscribed, and after each time in which news may have been missed. */
  watch(channel: string, wake: RedisWake): () => void {
    // Each watch is its own, even if a function watches twice.
    const own: RedisWake = (news) => wake(news);
    let wakes = this.#channels.get(channel);
    if (wakes) wakes.add(own);
    else {
      wakes = new Set([own]);
      this.#channels.set(channel, wakes);
      void this.#subscribe(channel, wakes);
    }
    return () => {
      if (!wakes.delete(own) || wakes.size > 0 || this.#channels.get(channel) !== wakes) return;
      this.#channels.delete(channel);
      void this.#leave(channel);
    };
  }

  async #leave(channel: string): Promise<void> {
    const before = this.#leaving.get(channel);
    const left = Promise.all([before, this.#link.unsubscribe(channel)]).then(
      () => {},
      // A channel that could not be unsubscribed wakes nobody.
      () => {},
    );
    this.#leaving.set(channel, left);
    await left;
    if (this.#leaving.get(channel) === left) this.#leaving.delete(channel);
  }

  async #subscribe(channel: string, wakes: Set<RedisWake>): Promise<void> {
    for (;;) {
      try {
        for (let left = this.#leaving.get(channel); left; left = this.#leaving.get(channel)) await left;
        // Nobody waits any more, or another call has subscribed.
        if (this.#channels.get(channel) !== wakes) return;
        await this.#link.subscribe(channel, (text) => this.#wake(channel, decodeNews(text)));
        this.#wake(channel);
        return;
      } catch {
        if (!this.#link.isOpen || this.#channels.get(channel) !== wakes) return;
        await new Promise((resolve) => setTimeout(resolve, 100).unref());
      }
    }
  }

  #wake(channel: string, news?: News): void {
    for (const wake of this.#channels.get(channel) ?? []) wake(news);
  }

  wakeAll(): void {
    for (const channel of this.#channels.keys()) this.#wake(channel);
  }

  clear(): void {
    clearInterval(this.#timer);
    this.#channels.clear();
  }
}
