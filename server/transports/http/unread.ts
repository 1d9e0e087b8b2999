import type { ServerResponse } from 'node:http';
import { addressKey } from '../../auth/address.js';
import type { Identity } from '../../auth/types.js';
import { Stall } from '../../delivery/stall.js';
import type { Ticker, Ticking } from '../../delivery/ticker.js';
import { LimitError } from '../../limit-error.js';
import { sentBytes } from '../sent-bytes.js';

/** Whose answers count together: a person's, and of an identity that many callers share those of one address. */
export function readerKey({ shared, userKey }: Identity, address: string): string {
  return shared ? `${userKey} ${addressKey(address)}` : userKey;
}

/** Whether an answer has ended and is not all on its way: few are. */
export function isUnread(response: ServerResponse): boolean {
  return response.writableEnded && !response.writableFinished && !response.closed;
}

/** Answers that are written and not read yet: bounded by user, and ended where nobody takes a byte of them for long. */
export class UnreadAnswers {
  readonly #limits: { readonly slowClientMs: number; readonly unreadBytes: number };
  readonly #ticker: Ticker;
  readonly #perReader = new Map<string, number>();

  constructor(limits: { readonly slowClientMs: number; readonly unreadBytes: number }, ticker: Ticker) {
    this.#limits = limits;
    this.#ticker = ticker;
  }

  /** Bytes of all of them. */
  bytes = 0;

  /** Whether a reader may ask for more. @throws GatewayError `RATE_LIMITED` */
  admit(reader: string): void {
    if ((this.#perReader.get(reader) ?? 0) < this.#limits.unreadBytes) return;
    throw new LimitError('limits.unreadBytes', {
      code: 'RATE_LIMITED',
      message: 'Read the answers to earlier requests first',
      retryAfterMs: 1000,
    });
  }

  /** Watches an answer that has ended until it is read. @param reader Whose it is, where that is known */
  watch(response: ServerResponse, reader: string | undefined): void {
    if (!isUnread(response)) return;
    const bytes = response.writableLength;
    const stall = new Stall({ sent: () => sentBytes(response.socket) });
    const item: Ticking = {
      tick: (now) => {
        if (response.writableFinished) done();
        // One that waits for its turn is not its reader's to take.
        else if (response.socket && stall.isOver(now, this.#limits.slowClientMs)) response.destroy();
      },
    };
    const done = (): void => {
      response.off('close', done).off('finish', done);
      this.#ticker.delete(item);
      this.bytes -= bytes;
      if (reader !== undefined) this.#count(reader, -bytes);
    };
    this.bytes += bytes;
    if (reader !== undefined) this.#count(reader, bytes);
    response.once('close', done).once('finish', done);
    this.#ticker.add(item);
  }

  #count(reader: string, bytes: number): void {
    const held = (this.#perReader.get(reader) ?? 0) + bytes;
    if (held > 0) this.#perReader.set(reader, held);
    else this.#perReader.delete(reader);
  }
}
