import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { HeldPage } from '../../../server/stores/shared-store.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import {
  type AcquireOptions,
  type SessionRef,
  type Store,
  StoreError,
} from '../../../server/stores/store.js';
import type { Call, Ended, Note, Served } from './protocol.js';

/** One gateway, as the hub knows it. */
interface Client {
  readonly socket: Socket;
  holder: string;
  readonly watches: Map<string, () => void>;
}

const keyOf = ({ scope, app, name }: SessionRef): string => `${scope}\n${app}:${name}`;

function refOf(key: string): SessionRef {
  const [, scope, app, name] = /^(.*)\n([^:]*):(.*)$/s.exec(key)!;
  return { scope: scope!, app: app!, name: name! };
}

/**
 * A store server for the chaos tests where there is neither Redis nor PostgreSQL: sessions in a SQLite file, and beside it who holds
 * which. Gateways reach it over TCP (`hubStore`). What it has answered survives its `kill -9`.
 */
class HubServer {
  readonly #inner: Store;
  readonly #holdersFile: string;
  readonly #holders: Map<string, string>;
  readonly #leaseMs: number;
  readonly #leases = new Map<string, number>();
  readonly #notes = new Map<string, { readonly value: string; readonly until: number }>();
  readonly #clients = new Set<Client>();
  readonly #graceUntil: number;

  constructor(directory: string, leaseMs: number) {
    this.#inner = sqliteStore({ path: `${directory}/hub.db` });
    this.#holdersFile = `${directory}/holders.json`;
    this.#leaseMs = leaseMs;
    // Who lived before it was ended may live: none has been heard of yet.
    this.#graceUntil = performance.now() + leaseMs;
    this.#holders = new Map(readHolders(this.#holdersFile));
  }

  async listen(port: number): Promise<void> {
    await this.#inner.open();
    const server = createServer((socket) => this.#connected(socket));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  }

  #connected(socket: Socket): void {
    const client: Client = { socket, holder: '', watches: new Map() };
    this.#clients.add(client);
    socket.setNoDelay(true).on('error', () => {});
    socket.on('close', () => {
      this.#clients.delete(client);
      for (const unwatch of client.watches.values()) unwatch();
    });
    createInterface({ input: socket })
      .on('line', (line) => {
        const call = wholeCall(line);
        if (call) void this.#answer(client, call);
      })
      .on('error', () => {});
  }

  async #answer(client: Client, { id, call, args }: Call): Promise<void> {
    let ended: Ended;
    try {
      ended = { id, ok: (await this.#do(client, call, args)) ?? null };
    } catch (error) {
      const code = error instanceof StoreError ? error.code : 'UNAVAILABLE';
      ended = { id, error: { code, message: String(error) } };
    }
    send(client.socket, ended);
  }

  #do(client: Client, call: Served, args: readonly any[]): unknown {
    const shared: Partial<Record<Served, () => unknown>> = {
      acquire: () => this.#acquire(args[0], args[1]),
      release: () => this.#release(args[0], args[1]),
      unfinished: async () =>
        (await this.#inner.unfinished())
          .map((ref) => ({ ...ref, from: this.#holders.get(keyOf(ref)) ?? '' }))
          .filter(({ from }) => !this.#alive(from)),
      join: () => this.#live(client, args[0]),
      alive: () => this.#alive(args[0]),
      members: () => [...this.#leases.keys()].filter((holder) => this.#alive(holder)),
      tell: () => this.#tell(args[0], args[1]),
      leave: () => this.#leases.delete(args[0]),
      watch: () => this.#watch(client, args[0]),
      unwatch: () => this.#unwatch(client, args[0]),
      followers: () => [...this.#clients].filter(({ watches }) => watches.has(keyOf(args[0]))).length,
      held: () => {
        const { limit, after, holder } = args[0] as HeldPage;
        return [...this.#holders]
          .filter(([key, by]) => (!after || key > keyOf(after)) && (holder === undefined || by === holder))
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, limit)
          .map(([key, by]) => ({ ...refOf(key), holder: by }));
      },
      put: () => this.#put(args[0], args[1], args[2]),
      get: () => this.#note(args[0]),
      drop: () => void this.#notes.delete(args[0]),
    };
    const own = shared[call];
    if (own) return own();
    return (this.#inner[call as keyof Store] as (...all: readonly unknown[]) => unknown)(...args);
  }

  #acquire(ref: SessionRef, options: AcquireOptions): unknown {
    const key = keyOf(ref);
    const holder = this.#holders.get(key) ?? '';
    const free = holder === '' || holder === options.holder || holder === options.from;
    // All of it in one turn: SQLite answers at once.
    const head = this.#inner.head(ref) as { readonly closed: boolean } | null;
    if (head && !head.closed && !free) return { kind: 'owned', holder };
    const acquired = this.#inner.acquire(ref, options) as { readonly kind: string };
    if (acquired.kind === 'acquired') this.#hold(key, options.holder);
    return acquired;
  }

  async #release(ref: SessionRef, term: number): Promise<void> {
    const head = await this.#inner.head(ref);
    if (head?.term === term) this.#hold(keyOf(ref), '');
    await this.#inner.release(ref, term);
  }

  #hold(key: string, holder: string): void {
    if (holder === '') this.#holders.delete(key);
    else this.#holders.set(key, holder);
    writeFileSync(`${this.#holdersFile}.new`, JSON.stringify([...this.#holders]));
    renameSync(`${this.#holdersFile}.new`, this.#holdersFile);
  }

  #live(client: Client, holder: string): void {
    client.holder = holder;
    this.#leases.set(holder, performance.now() + this.#leaseMs);
  }

  #alive(holder: string): boolean {
    if (holder === '') return false;
    const now = performance.now();
    return now < this.#graceUntil || (this.#leases.get(holder) ?? 0) > now;
  }

  #tell(holder: string, mail: string): boolean {
    const client = [...this.#clients].find((other) => other.holder === holder);
    if (client) send(client.socket, { mail });
    return client !== undefined;
  }

  #watch(client: Client, ref: SessionRef): void {
    const key = keyOf(ref);
    if (!client.watches.has(key))
      client.watches.set(
        key,
        this.#inner.watch(ref, () => send(client.socket, { wake: key })),
      );
  }

  #unwatch({ watches }: Client, ref: SessionRef): void {
    watches.get(keyOf(ref))?.();
    watches.delete(keyOf(ref));
  }

  #put(name: string, value: string, { ttlMs, once = false }: Note): boolean {
    if (once && this.#note(name) !== null) return false;
    this.#notes.set(name, { value, until: performance.now() + ttlMs });
    return true;
  }

  #note(name: string): string | null {
    const note = this.#notes.get(name);
    return note && note.until > performance.now() ? note.value : null;
  }
}

/** A call; null where its line was cut off with its connection. */
function wholeCall(line: string): Call | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function send(socket: Socket, frame: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(frame)}\n`);
}

function readHolders(file: string): readonly [string, string][] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

const [directory, port, leaseMs] = process.argv.slice(2);
await new HubServer(directory!, Number(leaseMs)).listen(Number(port));
console.log('ready');
