import { createHook, executionAsyncResource } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** What a piece of work made a process do, apart from how long it took. */
export interface Made {
  readonly promises: number;
  /** Callbacks for a later turn of the event loop. */
  readonly immediates: number;
  readonly timers: number;
  /** Callbacks of process.nextTick, those of Node's streams included. */
  readonly ticks: number;
  /** Times that bytes were handed to the operating system. */
  readonly writes: number;
}

const KINDS: Readonly<Record<string, keyof Made>> = {
  PROMISE: 'promises',
  Immediate: 'immediates',
  Timeout: 'timers',
  TickObject: 'ticks',
};

const WRITES = [
  'writeBuffer',
  'writev',
  'writeLatin1String',
  'writeUtf8String',
  'writeAsciiString',
  'writeUcs2String',
];

/** Whether it is the timer of a `setInterval`. */
const repeats = (resource: object): boolean => '_repeat' in resource && resource._repeat !== null;

/**
 * Counts what this process makes for the sockets that connect to it. Is created before they do. What it makes at intervals is not
 * counted: that grows with the time that the work takes, which a busy machine makes longer.
 */
export class Counter {
  #made: Record<keyof Made, number> = { promises: 0, immediates: 0, timers: 0, ticks: 0, writes: 0 };
  readonly #atIntervals = new WeakSet<object>();
  readonly #hook = createHook({
    init: (_id, type, _trigger, resource) => {
      const by = executionAsyncResource();
      if (repeats(by) || this.#atIntervals.has(by)) {
        this.#atIntervals.add(resource);
        return;
      }
      const kind = KINDS[type];
      if (kind) this.#made[kind] += 1;
    },
  });
  /** Is called at each write. */
  onWrite: () => void = () => {};

  constructor() {
    subscribe('net.server.socket', (message) => {
      const { socket } = message as { readonly socket: Socket };
      const { _handle: handle } = socket as any as { _handle: Record<string, (...args: any[]) => unknown> };
      for (const name of WRITES) {
        const write = handle[name]!;
        handle[name] = (...args) => {
          this.#made.writes += 1;
          this.onWrite();
          return write.apply(handle, args);
        };
      }
    });
  }

  /** @param withHook Counts what Node tells of, too; that takes memory for each promise. */
  start(withHook: boolean): void {
    this.#made = { promises: 0, immediates: 0, timers: 0, ticks: 0, writes: 0 };
    if (withHook) this.#hook.enable();
  }

  stop(): Made {
    this.#hook.disable();
    return this.#made;
  }
}
