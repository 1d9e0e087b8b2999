import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../shared/errors.js';
import type { SliceExchange, SentSlice } from './exchange.js';
import { isFault, SliceDied } from './fault.js';
import { pour } from './pour.js';

/** Time within which whoever took a slice has to begin its reply, in milliseconds. */
const LEASE_MS = 10_000;

interface WaitingSlice {
  readonly slice: SentSlice;
  /** Hands the slice over. */
  readonly take: (lease: Lease) => void;
}

/** A slice that was taken, until its reply begins. */
interface Lease {
  readonly slice: SentSlice;
  readonly reply: Promise<IncomingMessage>;
  readonly begin: (reply: IncomingMessage) => void;
}

/** The slices of an app whose processes ask for them. Each is given to one of them. */
export class WorkQueue implements SliceExchange {
  readonly #silenceMs: number;
  readonly #waiting = new Set<WaitingSlice>();
  readonly #askers = new Set<(waiting: WaitingSlice) => void>();
  readonly #leases = new Map<string, Lease>();

  constructor({ silenceMs }: { readonly silenceMs: number }) {
    this.#silenceMs = silenceMs;
  }

  async carry(slice: SentSlice): Promise<void> {
    await this.#taken(slice);
    slice.began();
    const { reply } = this.#leases.get(slice.id)!;
    try {
      const request = await begun(reply, slice.signal);
      const silent = (): void => void request.destroy();
      request.setTimeout(this.#silenceMs, silent);
      await pour(request, slice).catch((cause: unknown) => {
        throw new SliceDied("The app's connection broke", { cause });
      });
      request.setTimeout(0);
      request.socket.off('timeout', silent);
    } finally {
      this.#leases.delete(slice.id);
    }
  }

  /**
   * Takes the next slice.
   *
   * @param signal Aborted when the asker has left.
   * @returns null if none came in time
   */
  async take(waitMs: number, signal: AbortSignal): Promise<string | null> {
    const [first] = this.#waiting;
    if (first) return this.#lease(first);
    if (waitMs === 0 || signal.aborted) return null;
    return new Promise((resolve) => {
      const done = (body: string | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', left);
        this.#askers.delete(given);
        resolve(body);
      };
      const given = (waiting: WaitingSlice): void => done(this.#lease(waiting));
      const left = (): void => done(null);
      const timer = setTimeout(left, waitMs);
      signal.addEventListener('abort', left, { once: true });
      this.#askers.add(given);
    });
  }

  /** Takes the reply to a slice. Resolves once it was read. @throws GatewayError `RUN_NOT_FOUND` for a slice that is over; `APP_REPLY_INVALID` */
  async reply(id: string, request: IncomingMessage): Promise<void> {
    const lease = this.#leases.get(id);
    // A second reply to it comes too late.
    this.#leases.delete(id);
    if (!lease) throw new GatewayError({ code: 'RUN_NOT_FOUND', message: 'The slice is over' });
    const { signal } = lease.slice;
    lease.begin(request);
    if (!signal.aborted) await once(signal, 'abort');
    if (signal.reason === lease.slice.done) return;
    throw isFault(signal.reason)
      ? signal.reason
      : new GatewayError({ code: 'RUN_NOT_FOUND', message: 'The slice is over' });
  }

  #taken(slice: SentSlice): Promise<void> {
    return new Promise((resolve, reject) => {
      const left = (): void => {
        this.#waiting.delete(waiting);
        reject(slice.signal.reason);
      };
      const waiting: WaitingSlice = {
        slice,
        take: (lease) => {
          this.#waiting.delete(waiting);
          slice.signal.removeEventListener('abort', left);
          this.#leases.set(slice.id, lease);
          resolve();
        },
      };
      slice.signal.addEventListener('abort', left, { once: true });
      if (slice.signal.aborted) return left();
      const [asker] = this.#askers;
      this.#waiting.add(waiting);
      asker?.(waiting);
    });
  }

  #lease({ slice, take }: WaitingSlice): string {
    let begin!: (reply: IncomingMessage) => void;
    const reply = new Promise<IncomingMessage>((resolve) => {
      begin = resolve;
    });
    take({ slice, reply, begin });
    return slice.body;
  }
}

/** The reply, once it begins. @throws SliceDied if it does not in time */
async function begun(reply: Promise<IncomingMessage>, signal: AbortSignal): Promise<IncomingMessage> {
  let stop!: () => void;
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new SliceDied('The slice was taken, and no reply began')),
      LEASE_MS,
    );
    const left = (): void => reject(signal.reason);
    signal.addEventListener('abort', left, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', left);
    };
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    stop();
  }
}
