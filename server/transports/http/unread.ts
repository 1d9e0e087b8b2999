import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../../shared/errors.js';
import { Stall } from '../../delivery/stall.js';
import type { Ticker, Ticking } from '../../delivery/ticker.js';
import { sentBytes } from '../sent-bytes.js';

/** Answers that are written and not read yet: bounded by user, and ended where nobody takes a byte of them for long. */
export class UnreadAnswers {
  readonly #limits: { readonly slowClientMs: number; readonly unreadBytes: number };
  readonly #ticker: Ticker;
  readonly #perUser = new Map<string, number>();

  constructor(limits: { readonly slowClientMs: number; readonly unreadBytes: number }, ticker: Ticker) {
    this.#limits = limits;
    this.#ticker = ticker;
  }

  /** Whether a user may ask for more. @throws GatewayError `RATE_LIMITED` */
  admit(userKey: string): void {
    if ((this.#perUser.get(userKey) ?? 0) < this.#limits.unreadBytes) return;
    throw new GatewayError({
      code: 'RATE_LIMITED',
      message: 'Read the answers to earlier requests first',
      retryAfterMs: 1000,
    });
  }

  /** Watches an answer that has ended until it is read. @param userKey Whose it is, where that is known */
  watch(response: ServerResponse, userKey: string | undefined): void {
    if (!response.writableEnded || response.writableFinished || response.closed) return;
    const bytes = response.writableLength;
    const stall = new Stall(() => sentBytes(response.socket));
    const item: Ticking = {
      tick: (now) => {
        if (response.writableFinished) done();
        else if (stall.isOver(now, this.#limits.slowClientMs)) response.destroy();
      },
    };
    const done = (): void => {
      response.off('close', done).off('finish', done);
      this.#ticker.delete(item);
      if (userKey !== undefined) this.#count(userKey, -bytes);
    };
    stall.begin();
    if (userKey !== undefined) this.#count(userKey, bytes);
    response.once('close', done).once('finish', done);
    this.#ticker.add(item);
  }

  #count(userKey: string, bytes: number): void {
    const held = (this.#perUser.get(userKey) ?? 0) + bytes;
    if (held > 0) this.#perUser.set(userKey, held);
    else this.#perUser.delete(userKey);
  }
}
