import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { LimitError } from '../limit-error.js';

/** Time between two looks at the heap while new work is refused, in milliseconds. */
const LOOK_MS = 250;
/** Part of the heap that must have become free until new work is taken again. */
const FREED = 0.05;
/** Part of the limit that V8 keeps for what is new, in bytes. Nothing that lasts may fill it. */
const YOUNG_BYTES = 48 * 2 ** 20;
const RETRY_AFTER_MS = 5000;

/** Timers of the machine, which fake clocks of tests leave alone. */
const { setInterval, clearInterval } = globalThis;

/** The used part of the heap that this process may have, from 0 to 1. */
function heapUsed(): number {
  const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics();
  return used / (most - YOUNG_BYTES);
}

/** Calls a function after each collection of the whole heap. @returns a function that ends it */
function afterCollections(collected: () => void): () => void {
  const observer = new PerformanceObserver((list) => {
    const entries = list.getEntries() as unknown as readonly {
      readonly detail?: { readonly kind?: number };
    }[];
    if (entries.some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) collected();
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

/** Called when a gateway begins or ceases to refuse new work. */
export interface HeapRoomEvents {
  refuses(used: number): void;
  admits(): void;
}

/**
 * Refuses new work while the heap is nearly full: a process without a heap dies, and all accepted work with it. The heap is judged after a collection,
 * since before one much of it may be garbage.
 */
export class HeapRoom {
  readonly #share: number;
  readonly #events: HeapRoomEvents;
  readonly #used: () => number;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #refusing = false;

  /** @param share Value of `limits.heapShare`; `Infinity` refuses nothing. */
  constructor(share: number, events: HeapRoomEvents, used: () => number = heapUsed) {
    this.#share = share;
    this.#events = events;
    this.#used = used;
  }

  /** Whether new work is refused. */
  get refusing(): boolean {
    return this.#refusing;
  }

  start(): void {
    if (Number.isFinite(this.#share)) this.#unwatch ??= afterCollections(() => this.collected());
  }

  stop(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#end();
  }

  /** Looks at the heap after a collection. */
  collected(): void {
    const used = this.#used();
    if (this.#refusing || used < this.#share) return;
    this.#refusing = true;
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.#events.refuses(used);
  }

  /** Looks whether there is room again. */
  look(): void {
    if (!this.#refusing || this.#used() >= this.#share - FREED) return;
    this.#end();
    this.#events.admits();
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#refusing = false;
  }

  /** @throws GatewayError `OVERLOADED` */
  admit(): void {
    if (!this.#refusing) return;
    throw new LimitError('limits.heapShare', {
      code: 'OVERLOADED',
      message: 'The gateway has no memory left for more now; try again later',
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
