import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../../shared/errors.js';
import type { SentSlice, SliceExchange } from './exchange.js';
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
  readonly reply: Promise<Readable>;
  readonly begin: (reply: Readable) => void;
}

/** Somebody who asks for a slice. */
interface Asker {
  readonly answer: (body: string | null) => void;
  readonly refuse: (error: unknown) => void;
  /** Whether the asker has left, or its time is over. */
  isOver: boolean;
}

/** The queues of the same app at the other gateways. */
export interface OtherQueues {
  /** Name of this gateway among the others. */
  readonly holder: string;
  /** Tells them that a slice waits here, with no asker. */
  waits(): void;
  /** Tells them that an asker waits here, with no slice. */
  wants(): void;
}

/** The slices of an app whose processes ask for them. Each is given to one of them. */
export class WorkQueue implements SliceExchange {
  readonly #silenceMs: number;
  readonly #waiting = new Set<WaitingSlice>();
  readonly #askers = new Set<Asker>();
  readonly #leases = new Map<string, Lease>();
  #others: OtherQueues | undefined;
  #isClosing = false;

  constructor({ silenceMs }: { readonly silenceMs: number }) {
    this.#silenceMs = silenceMs;
  }

  get mark(): string {
    return this.#others ? markOf(this.#others.holder) : '';
  }

  get silenceMs(): number {
    return this.#silenceMs;
  }

  /** Whether a slice waits for an asker. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Shares the slices with other gateways from now on. */
  join(others: OtherQueues): void {
    this.#others = others;
  }

  /** Has nobody wait here any more: askers shall ask another gateway. Slices that wait here are still given away. */
  close(): void {
    this.#isClosing = true;
    for (const { refuse } of this.#askers) refuse(shuttingDown());
    this.#askers.clear();
  }

  async carry(slice: SentSlice): Promise<void> {
    await this.#taken(slice);
    slice.began();
    const { reply } = this.#leases.get(slice.id)!;
    let silent: NodeJS.Timeout | undefined;
    try {
      const stream = await begun(reply, slice.signal);
      silent = setTimeout(() => void stream.destroy(), this.#silenceMs);
      const take: SentSlice['take'] = (piece) => {
        silent?.refresh();
        return slice.take(piece);
      };
      await pour(stream, { ...slice, take }).catch((cause: unknown) => {
        throw new SliceDied("The app's connection broke", { cause });
      });
    } finally {
      clearTimeout(silent);
      this.#leases.delete(slice.id);
    }
  }

  /** Takes a slice that waits here; null if none does. */
  next(): string | null {
    const [first] = this.#waiting;
    return first ? this.#lease(first) : null;
  }

  /**
   * Takes the next slice, of this gateway or another one.
   *
   * @param waitMs Milliseconds. With 0 the others are not asked
   * @param signal Aborted when the asker has left.
   * @returns null if none came in time
   * @throws GatewayError `SHUTTING_DOWN`
   */
  async take(waitMs: number, signal: AbortSignal): Promise<string | null> {
    const body = this.next();
    if (body !== null || waitMs === 0 || signal.aborted) return body;
    if (this.#isClosing) throw shuttingDown();
    let over!: () => void;
    const given = new Promise<string | null>((answer, refuse) => {
      const asker: Asker = { answer, refuse, isOver: false };
      over = () => {
        asker.isOver = true;
        // One that is not there is being brought a slice.
        if (this.#askers.delete(asker)) answer(null);
      };
      this.#askers.add(asker);
    });
    const timer = setTimeout(over, waitMs);
    signal.addEventListener('abort', over, { once: true });
    this.#others?.wants();
    try {
      return await given;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
    }
  }

  /** Gives an asker, if there is one, a slice of another gateway. @param fetch Takes it there; null if it is gone */
  async bring(fetch: () => Promise<string | null>): Promise<void> {
    const [asker] = this.#askers;
    if (!asker) return;
    this.#askers.delete(asker);
    // The slice of a gateway that died is offered again.
    const body = (await fetch().catch(() => null)) ?? this.next();
    if (body !== null || asker.isOver) return asker.answer(body);
    if (this.#isClosing) return asker.refuse(shuttingDown());
    this.#askers.add(asker);
    // Others may have told of slices meanwhile.
    this.#others?.wants();
  }

  /** Takes the reply to a slice. Resolves once it was read. @throws GatewayError `RUN_NOT_FOUND` for a slice that is over; `APP_REPLY_INVALID` */
  async reply(id: string, reply: Readable): Promise<void> {
    const lease = this.#leases.get(id);
    // A second reply to it comes too late.
    this.#leases.delete(id);
    if (!lease) throw sliceIsOver();
    const { signal } = lease.slice;
    lease.begin(reply);
    if (!signal.aborted) await once(signal, 'abort');
    if (signal.reason === lease.slice.done) return;
    throw isFault(signal.reason) ? signal.reason : sliceIsOver();
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
      this.#waiting.add(waiting);
      const [asker] = this.#askers;
      if (!asker) return this.#others?.waits();
      this.#askers.delete(asker);
      asker.answer(this.#lease(waiting));
    });
  }

  #lease({ slice, take }: WaitingSlice): string {
    let begin!: (reply: Readable) => void;
    const reply = new Promise<Readable>((resolve) => {
      begin = resolve;
    });
    take({ slice, reply, begin });
    return slice.body;
  }
}

const shuttingDown = (): GatewayError => new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });

export const sliceIsOver = (): GatewayError =>
  new GatewayError({ code: 'RUN_NOT_FOUND', message: 'The slice is over' });

/** The end of a slice's id, in characters that any path may have. */
const markOf = (holder: string): string => `.${Buffer.from(holder).toString('base64url')}`;

/** The gateway that reads the reply to a slice; `''` for none. */
export const readerOf = (id: string): string => Buffer.from(id.split('.')[1] ?? '', 'base64url').toString();

/** The reply, once it begins. @throws SliceDied if it does not in time */
async function begun(reply: Promise<Readable>, signal: AbortSignal): Promise<Readable> {
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
