import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { Script } from '../peers/peer.js';
import { AnswerReader } from './answer-reader.js';

export type Target = { readonly port: number } | { readonly path: string };

export interface ConnectionListener {
  /** The client has connected as its script says; bytes that came with the last answer begin at `from`. */
  ready(connection: Connection): void;
  /** Bytes came after that. They are only there during the call, and the one at `to` is the listener's to write. */
  data(connection: Connection, bytes: Buffer, from: number, to: number): void;
  closed(connection: Connection): void;
}

// Bytes are looked at at once and not kept, so all connections read into the same memory: reading costs no allocation.
const READ_BYTES = 256 * 1024;
const CLIENTS_OF_ADDRESS = 20_000;
/** One byte longer than what is read, for the listener to write behind it. */
const shared = Buffer.allocUnsafe(READ_BYTES + 1);
const readInto = shared.subarray(0, READ_BYTES);

/** One client: follows its script, then hands over what it reads. */
export class Connection {
  readonly answer = new AnswerReader();
  readonly #script: Script;
  readonly #listener: ConnectionListener;
  readonly #socket: Socket;
  #stage = 0;
  #seen = '';
  isReady = false;
  isClosed = false;
  /** When the request was sent that waits for its answer, in microseconds; 0 for none. */
  sentAt = 0;
  /** Whether an event of that answer has come. */
  hasBegun = false;

  /** @param n Number of the client, by which it has an address of this machine: one address has ports for some 28,000. */
  constructor(script: Script, target: Target, listener: ConnectionListener, n = 0) {
    this.#script = script;
    this.#listener = listener;
    const options: NetConnectOpts & { readonly onread: object } = {
      ...('path' in target
        ? { path: target.path }
        : {
            port: target.port,
            host: '127.0.0.1',
            localAddress: `127.0.0.${1 + Math.floor(n / CLIENTS_OF_ADDRESS)}`,
            noDelay: true,
          }),
      onread: { buffer: readInto, callback: (length: number) => this.#read(length) },
    };
    this.#socket = connect(options)
      .on('connect', () => this.#next())
      .on('error', () => {})
      .on('close', () => {
        this.isClosed = true;
        listener.closed(this);
      });
  }

  request(): void {
    this.#socket.write(this.#script.request!, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #next(): void {
    const stage = this.#script.stages?.[this.#stage];
    if (stage) this.#socket.write(stage[0], 'latin1');
    else {
      this.isReady = true;
      this.#listener.ready(this);
    }
  }

  #read(length: number): boolean {
    if (this.isReady) {
      this.#listener.data(this, shared, 0, length);
      return true;
    }
    const until = this.#script.stages![this.#stage]![1];
    const before = this.#seen.length;
    this.#seen += shared.toString('latin1', 0, length);
    const at = this.#seen.indexOf(until);
    if (at < 0) return true;
    const end = at + until.length - before;
    this.#seen = '';
    this.#stage += 1;
    this.#next();
    // What came behind the last text that was waited for may hold events.
    if (this.isReady && end < length) this.#listener.data(this, shared, end, length);
    return true;
  }
}
