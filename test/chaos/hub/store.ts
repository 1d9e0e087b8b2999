import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { HeldSession, Member, SharedStore } from '../../../server/stores/shared-store.js';
import { type SessionRef, type Store, StoreError } from '../../../server/stores/store.js';
import type { Ended, News, Served } from './protocol.js';

export interface HubStoreOptions {
  readonly host: string;
  readonly port: number;
  readonly leaseMs: number;
}

interface Waiting {
  readonly call: Served;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** How long a connection is waited for before a call fails, and between two attempts, in milliseconds. */
const RECONNECT_MS = 50;

const keyOf = ({ scope, app, name }: SessionRef): string => `${scope}\n${app}:${name}`;
/** Members of a store that are no calls. */
const LOCAL = new Set(['then', 'vacuum', 'backup', 'check', 'files', 'toJSON']);

/** A gateway's link to the hub. Of an append whose answer was lost it says so: the log writes it again, the same. */
class HubLink {
  readonly #options: HubStoreOptions;
  #socket: Socket | null = null;
  #closed = false;
  #id = 0;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watches = new Map<string, { readonly ref: SessionRef; readonly wakes: Set<() => void> }>();
  #member: Member | null = null;
  #heart: NodeJS.Timeout | null = null;
  #beatAt = performance.now();
  /** When the hub was heard of last. */
  #heardAt = performance.now();

  constructor(options: HubStoreOptions) {
    this.#options = options;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#connect(resolve));
  }

  close(): void {
    this.#closed = true;
    if (this.#heart) clearInterval(this.#heart);
    this.#socket?.destroy();
  }

  call(call: Served, args: readonly unknown[]): Promise<unknown> {
    const socket = this.#socket;
    if (!socket) return Promise.reject(new StoreError('UNAVAILABLE', 'The hub is not connected'));
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { call, resolve, reject });
      socket.write(`${JSON.stringify({ id, call, args })}\n`);
    });
  }

  watch(ref: SessionRef, wake: () => void): () => void {
    const key = keyOf(ref);
    let watch = this.#watches.get(key);
    if (!watch) {
      watch = { ref, wakes: new Set() };
      this.#watches.set(key, watch);
    }
    const { wakes } = watch;
    wakes.add(wake);
    this.#watchAgain(ref, wakes);
    return () => {
      wakes.delete(wake);
      if (wakes.size > 0 || this.#watches.get(key)?.wakes !== wakes) return;
      this.#watches.delete(key);
      this.call('unwatch', [ref]).catch(() => {});
    };
  }

  /** Hears of a session from now on, and looks once that is so. */
  #watchAgain(ref: SessionRef, wakes: Set<() => void>): void {
    this.call('watch', [ref]).then(
      () => {
        for (const wake of wakes) wake();
      },
      () => {},
    );
  }

  async join(member: Member): Promise<void> {
    this.#member = member;
    await this.call('join', [member.holder]);
    this.#beatAt = performance.now();
    this.#heart = setInterval(() => void this.#beat(), this.#options.leaseMs / 3).unref();
  }

  leave(): Promise<unknown> {
    const { holder } = this.#member!;
    this.#member = null;
    if (this.#heart) clearInterval(this.#heart);
    return this.call('leave', [holder]);
  }

  async #beat(): Promise<void> {
    const { leaseMs } = this.#options;
    // Nobody tells of a connection that has fallen silent.
    if (performance.now() - this.#heardAt > 2 * leaseMs) this.#socket?.destroy();
    try {
      await this.call('join', [this.#member!.holder]);
    } catch {
      return;
    }
    const now = performance.now();
    const late = now - this.#beatAt > leaseMs;
    this.#beatAt = now;
    if (late) this.#member?.lapsed();
  }

  #connect(connected: () => void = () => {}): void {
    if (this.#closed) return;
    const { host, port } = this.#options;
    const socket = connect(port, host).setNoDelay(true);
    socket.on('error', () => {});
    socket.on('connect', () => {
      this.#socket = socket;
      this.#heardAt = performance.now();
      if (this.#member) void this.#beat();
      for (const { ref, wakes } of this.#watches.values()) this.#watchAgain(ref, wakes);
      connected();
    });
    createInterface({ input: socket })
      .on('line', (line) => {
        try {
          this.#hear(JSON.parse(line));
        } catch (error) {
          // It was cut off with its connection.
          if (!(error instanceof SyntaxError)) throw error;
        }
      })
      .on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) {
        this.#socket = null;
        this.#lost();
      }
      setTimeout(() => this.#connect(this.#socket ? undefined : connected), RECONNECT_MS).unref();
    });
  }

  #lost(): void {
    for (const [id, { call, reject }] of this.#waiting) {
      this.#waiting.delete(id);
      reject(new StoreError(call === 'append' ? 'UNKNOWN' : 'UNAVAILABLE', 'The connection was lost'));
    }
  }

  #hear(frame: Ended | News): void {
    this.#heardAt = performance.now();
    if ('wake' in frame) {
      for (const wake of this.#watches.get(frame.wake)?.wakes ?? []) wake();
    } else if ('mail' in frame) this.#member?.hear(frame.mail);
    else {
      const waiting = this.#waiting.get(frame.id);
      this.#waiting.delete(frame.id);
      if ('ok' in frame) waiting?.resolve(frame.ok);
      else waiting?.reject(new StoreError(frame.error.code, frame.error.message));
    }
  }
}

/** A store that several gateways share over TCP, for tests: the client of `hub/server.ts`. */
export function hubStore(options: HubStoreOptions): Store {
  const link = new HubLink(options);
  const shared: SharedStore = {
    leaseMs: options.leaseMs,
    skewMs: 0,
    async join(member) {
      await link.join(member);
      return {
        alive: (holder) => link.call('alive', [holder]) as Promise<boolean>,
        members: () => link.call('members', []) as Promise<string[]>,
        tell: (holder, message) => link.call('tell', [holder, message]) as Promise<boolean>,
        leave: () => link.leave().then(() => {}),
      };
    },
    put: (name, value, how) => link.call('put', [name, value, how]) as Promise<boolean>,
    get: (name) => link.call('get', [name]) as Promise<string | null>,
    drop: (name) => link.call('drop', [name]) as Promise<void>,
    followers: (ref) => link.call('followers', [ref]) as Promise<number>,
    held: (page) => link.call('held', [page]) as Promise<readonly HeldSession[]>,
  };
  const own: Partial<Store> = {
    durability: 'process',
    shared,
    open: () => link.open(),
    close: () => link.close(),
    watch: (ref, wake) => link.watch(ref, wake),
  };
  return new Proxy(own as Store, {
    get(target, name: keyof Store & string) {
      if (name in target) return target[name];
      if (LOCAL.has(name) || typeof name === 'symbol') return undefined;
      // What is left out must not arrive as null.
      return (...args: readonly unknown[]) =>
        link.call(name as Served, args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1));
    },
  });
}
