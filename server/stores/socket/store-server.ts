import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { isGatewayError } from '../../../shared/errors.js';
import { isPromise } from '../../async/maybe-promise.js';
import type { News } from '../append.js';
import { StoreError } from '../append.js';
import { CHANGES, CHORES, READS } from '../members.js';
import type { Store } from '../store.js';
import {
  type AskedFrame,
  encodeFrame,
  type FailureFrame,
  FrameDecoder,
  FrameWriter,
  type Hello,
  type Told,
  VERSION,
  type Welcome,
} from './frames.js';
import { type Peer, StoreHub } from './store-hub.js';

/** Most unread bytes of a process before its line is cut. The process connects again, and looks. */
const UNREAD_BYTES = 64 * 2 ** 20;
/** Interval of checks whether a process that lost its line has ended, in milliseconds. */
const PID_MS = 50;

const SERVED: ReadonlySet<string> = new Set([...READS, ...CHANGES, ...CHORES]);

type ServedCall = (...args: readonly unknown[]) => unknown;

/** Serves a store to other processes, over accepted connections. */
export class StoreServer {
  readonly #store: Store;
  readonly #hub: StoreHub;
  readonly #welcome: Welcome;
  readonly #lines = new Set<ServedLine>();
  #closed = false;

  /** @param store An open store. */
  constructor(store: Store, leaseMs: number) {
    this.#store = store;
    this.#hub = new StoreHub(store, leaseMs);
    this.#welcome = { server: randomUUID(), durability: store.durability, leaseMs };
  }

  accept(socket: Socket): void {
    const line: ServedLine = new ServedLine(socket, {
      hello: () => this.#welcome,
      heard: () => this.#hub.heard(line),
      call: (name, args) => this.#call(line, name, args),
      ended: (pid) => {
        this.#lines.delete(line);
        for (const holder of this.#hub.left(line)) this.#await(holder, pid);
      },
    });
    this.#lines.add(line);
  }

  close(): void {
    this.#closed = true;
    this.#hub.close();
    for (const line of this.#lines) line.end();
  }

  #call(line: ServedLine, name: string, args: readonly unknown[]): unknown {
    const own = Object.hasOwn(this.#hub.own, name) && this.#hub.own[name as keyof StoreHub['own']];
    if (own) return (own as ServedCall)(line, ...args);
    if (!SERVED.has(name))
      throw new StoreError('UNAVAILABLE', `A store has no member ${JSON.stringify(name)}`);
    // An optional member that the store lacks does nothing.
    return (this.#store[name as keyof Store] as ServedCall | undefined)?.apply(this.#store, [...args]);
  }

  /** Watches for the end of a process, which no event reports, and then declares its member dead. */
  #await(holder: string, pid: number): void {
    if (this.#closed || !this.#hub.isMissed(holder)) return;
    if (!isRunning(pid)) return this.#hub.bury(holder);
    setTimeout(() => this.#await(holder, pid), PID_MS).unref();
  }
}

interface StoreService {
  hello(): Welcome;
  heard(): void;
  call(name: string, args: readonly unknown[]): unknown;
  ended(pid: number): void;
}

/** The line to one process. */
class ServedLine implements Peer {
  readonly #socket: Socket;
  readonly #serving: StoreService;
  readonly #writer: FrameWriter;
  readonly #decoder = new FrameDecoder();
  #pid: number | null = null;

  constructor(socket: Socket, serving: StoreService) {
    this.#socket = socket;
    this.#serving = serving;
    this.#writer = new FrameWriter(socket);
    socket.on('error', () => {});
    socket.on('close', () => serving.ended(this.#pid ?? process.pid));
    socket.on('data', (piece: Buffer) => {
      serving.heard();
      try {
        for (const message of this.#decoder.feed(piece)) this.#hear(message);
      } catch {
        socket.destroy();
      }
    });
  }

  mail(holder: string, message: string): void {
    this.#tell(['mail', holder, message]);
  }

  wake(key: string, news: News | undefined): void {
    this.#tell(['wake', key, news]);
  }

  end(): void {
    this.#socket.destroy();
  }

  #hear(message: unknown): void {
    if (this.#pid === null) {
      const { version, pid } = message as Hello;
      if (version !== VERSION) return this.end();
      this.#pid = pid;
      return this.#writer.write(encodeFrame(this.#serving.hello()));
    }
    const [id, name, args] = message as AskedFrame;
    const failed = (error: unknown): void => this.#tell(['failed', id, failureOf(error)]);
    try {
      const answer = this.#serving.call(name, args);
      if (isPromise(answer)) void answer.then((value) => this.#tell(['done', id, value]), failed);
      else this.#tell(['done', id, answer]);
    } catch (error) {
      failed(error);
    }
  }

  #tell(told: Told): void {
    this.#writer.write(encodeFrame(told));
    if (this.#socket.writableLength > UNREAD_BYTES) this.end();
  }
}

/** The failure of a call. An error without a code of the port has an unknown outcome. */
function failureOf(error: unknown): FailureFrame {
  if (isGatewayError(error)) return { code: error.code, message: error.message, details: error.details };
  const { code, message, isFull } =
    error instanceof StoreError ? error : new StoreError('UNKNOWN', String(error));
  return { code, message, ...(isFull && { isFull }) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
