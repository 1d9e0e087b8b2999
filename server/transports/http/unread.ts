import type { ServerResponse } from 'node:http';
import { addressKey } from '../../auth/address.js';
import type { Person } from '../../auth/types.js';
import { Stall } from '../../delivery/stall.js';
import type { Ticker, TickerItem } from '../../delivery/ticker.js';
import { LimitError } from '../../limit-error.js';
import { sentBytes } from '../sent-bytes.js';

/** The key under which unread responses count together: a user, or one address of an identity that many callers share. */
export function readerKey({ pays: { key, kind } }: Person, address: string): string {
  return kind === 'person' ? key : `${key} ${addressKey(address)}`;
}

/** Whether a response has ended but is not completely sent, which is rare. */
export function isUnread(response: ServerResponse): boolean {
  return response.writableEnded && !response.writableFinished && !response.closed;
}

/** Responses that are written and not read yet. They are bounded for each user, and cut if their client takes no byte for long. */
export class UnreadAnswers {
  readonly #limits: { readonly slowClientMs: number; readonly unreadBytes: number };
  readonly #ticker: Ticker;
  readonly #perReader = new Map<string, number>();

  constructor(limits: { readonly slowClientMs: number; readonly unreadBytes: number }, ticker: Ticker) {
    this.#limits = limits;
    this.#ticker = ticker;
  }

  /** Bytes of all unread responses. */
  bytes = 0;

  /** Lets a reader send another request. @throws GatewayError `RATE_LIMITED` if it has too many unread bytes */
  admit(reader: string): void {
    if ((this.#perReader.get(reader) ?? 0) < this.#limits.unreadBytes) return;
    throw new LimitError('limits.unreadBytes', {
      code: 'RATE_LIMITED',
      message: 'Read the answers to earlier requests first',
      retryAfterMs: 1000,
    });
  }

  /** Watches an ended response until it is read. @param reader Key of its reader (see `readerKey`), if known */
  watch(response: ServerResponse, reader: string | undefined): void {
    if (!isUnread(response)) return;
    const bytes = response.writableLength;
    const stall = new Stall({ sent: () => sentBytes(response.socket) });
    const item: TickerItem = {
      tick: (now) => {
        if (response.writableFinished) done();
        // Without a socket the response still waits for its turn on the connection, and its reader is not to blame.
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
