import { Watches } from '../watches.js';
import { decodeNews } from './events.js';
import type { Link } from './link.js';

/** The watches of this process, by channels of news. Each channel is subscribed once, however many watches it has. */
export class RedisWatches {
  readonly #link: Link;
  readonly #watches = new Watches({
    begun: (channel) => void this.#subscribe(channel),
    ended: (channel) => void this.#leave(channel),
  });
  /** The last subscription of each watched channel. */
  readonly #subscriptions = new Map<string, object>();
  /** Channels that are being unsubscribed. A new subscription must wait, lest it is removed with the old one. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param lookMs Wakes all at this interval in milliseconds, since a group of servers may not report that one was unreachable. */
  constructor(link: Link, lookMs: number | undefined) {
    this.#link = link;
    link.onHeard(() => this.#watches.wakeAll());
    if (lookMs !== undefined) this.#timer = setInterval(() => this.#watches.wakeAll(), lookMs).unref();
  }

  /** Calls `wake` after each news, once the channel is subscribed, and after each time in which news may have been missed. */
  watch(channel: string, wake: Parameters<Watches['add']>[1]): () => void {
    return this.#watches.add(channel, wake);
  }

  async #leave(channel: string): Promise<void> {
    this.#subscriptions.delete(channel);
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

  async #subscribe(channel: string): Promise<void> {
    const own = {};
    this.#subscriptions.set(channel, own);
    // Nobody waits any more, or another call subscribes.
    const isOver = (): boolean => this.#subscriptions.get(channel) !== own;
    for (;;) {
      try {
        for (let left = this.#leaving.get(channel); left; left = this.#leaving.get(channel)) await left;
        if (isOver()) return;
        await this.#link.subscribe(channel, (text) => this.#watches.wake(channel, decodeNews(text)));
        this.#watches.wake(channel);
        return;
      } catch {
        if (!this.#link.isOpen || isOver()) return;
        await new Promise((resolve) => setTimeout(resolve, 100).unref());
      }
    }
  }

  clear(): void {
    clearInterval(this.#timer);
    this.#subscriptions.clear();
    this.#watches.clear();
  }
}
