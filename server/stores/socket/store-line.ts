import type { Socket } from 'node:net';
import { GatewayError } from '../../../shared/errors.js';
import { type News, StoreError, type StoreErrorCode } from '../append.js';
import { READS } from '../members.js';
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

/** First and longest pause between two attempts to reach the other process, in milliseconds. */
const AGAIN_MS = { first: 10, longest: 100 };
/** How long a call waits for the line, in milliseconds. */
const WAIT_MS = 2000;
/** How long `open` waits for the line, in milliseconds, because the other process may be starting. */
const OPEN_MS = 10_000;

const QUESTIONS: ReadonlySet<string> = new Set([...READS, ...['members', 'held']]);
const CODES: ReadonlySet<string> = new Set<StoreErrorCode>([
  'FENCED',
  'ROLLED_BACK',
  'UNAVAILABLE',
  'UNKNOWN',
  'REFUSED',
]);

interface LineCall {
  readonly name: string;
  readonly args: readonly unknown[];
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Refuses the call after `WAIT_MS` without a line. */
  timer?: NodeJS.Timeout;
}

/** Events of the line. */
export interface LineEvents {
  /** The line stands, before any call goes over it. @param isOther Whether a different process answers than before */
  stands(isOther: boolean): void;
  mail(holder: string, message: string): void;
  wake(key: string, news: News | undefined): void;
}

/** The line to the process that keeps the store. It reconnects by itself. */
export class StoreLine {
  readonly #connect: () => Socket;
  readonly #events: LineEvents;
  #writer: FrameWriter | null = null;
  #socket: Socket | null = null;
  #welcome: Welcome | null = null;
  #isClosed = true;
  #pauseMs = AGAIN_MS.first;
  #again: NodeJS.Timeout | undefined;
  #id = 0;
  readonly #asked = new Map<number, LineCall>();
  readonly #waiting = new Set<LineCall>();
  #opened: ((error?: Error) => void) | null = null;

  constructor(connect: () => Socket, events: LineEvents) {
    this.#connect = connect;
    this.#events = events;
  }

  /** The greeting of the other process; null before the first connection. */
  get welcome(): Welcome | null {
    return this.#welcome;
  }

  /** @throws GatewayError `STORE_FAILED` if nobody answers */
  async open(): Promise<void> {
    this.#isClosed = false;
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => this.#opened?.(unreached()), OPEN_MS);
      this.#opened = (error) => {
        this.#opened = null;
        clearTimeout(late);
        if (error) reject(error);
        else resolve();
      };
      this.#reach();
    }).catch((error: unknown) => {
      this.close();
      throw error;
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#socket?.destroy();
    for (const call of this.#waiting) this.#refuse(call);
  }

  /**
   * Makes a call. If the line ends, a call that changes nothing is repeated; any other fails with `UNKNOWN`.
   *
   * @throws StoreError `UNAVAILABLE` if the call was surely not sent, `UNKNOWN` if its outcome is unknown
   */
  call(name: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => this.#ask({ name, args, resolve, reject }));
  }

  #ask(call: LineCall): void {
    if (this.#writer) return this.#send(call, this.#writer);
    if (this.#isClosed) return this.#refuse(call);
    call.timer = setTimeout(() => this.#refuse(call), WAIT_MS).unref();
    this.#waiting.add(call);
  }

  #send(call: LineCall, writer: FrameWriter): void {
    this.#waiting.delete(call);
    clearTimeout(call.timer);
    const id = ++this.#id;
    // Encode before the call is noted, so that the caller gets an encoding error.
    const frame = encodeFrame([id, call.name, call.args] satisfies AskedFrame);
    this.#asked.set(id, call);
    writer.write(frame);
  }

  #refuse(call: LineCall): void {
    this.#waiting.delete(call);
    clearTimeout(call.timer);
    call.reject(new StoreError('UNAVAILABLE', 'The process that keeps the store cannot be reached'));
  }

  #reach(): void {
    const socket = this.#connect();
    this.#socket = socket;
    const decoder = new FrameDecoder();
    const writer = new FrameWriter(socket);
    let isWelcome = false;
    socket.on('error', () => {});
    socket.on('connect', () =>
      writer.write(encodeFrame({ version: VERSION, pid: process.pid } satisfies Hello)),
    );
    socket.on('data', (piece: Buffer) => {
      for (const message of decoder.feed(piece)) {
        if (isWelcome) this.#hear(message as Told);
        else {
          isWelcome = true;
          this.#stand(message as Welcome, writer);
        }
      }
    });
    socket.on('close', () => this.#lost());
  }

  #stand(welcome: Welcome, writer: FrameWriter): void {
    const isOther = this.#welcome !== null && this.#welcome.server !== welcome.server;
    this.#welcome = welcome;
    this.#writer = writer;
    this.#pauseMs = AGAIN_MS.first;
    this.#events.stands(isOther);
    for (const call of this.#waiting) this.#send(call, writer);
    this.#opened?.();
  }

  #lost(): void {
    this.#writer = null;
    this.#socket = null;
    for (const [id, call] of this.#asked) {
      this.#asked.delete(id);
      if (QUESTIONS.has(call.name)) this.#ask(call);
      else
        call.reject(
          new StoreError('UNKNOWN', `The line to the store ended before ${call.name} was answered`),
        );
    }
    if (this.#isClosed) return;
    this.#again = setTimeout(() => this.#reach(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, AGAIN_MS.longest);
  }

  #hear(told: Told): void {
    if (told[0] === 'wake') return this.#events.wake(told[1], told[2]);
    if (told[0] === 'mail') return this.#events.mail(told[1], told[2]);
    const [, id] = told;
    const call = this.#asked.get(id);
    this.#asked.delete(id);
    if (told[0] === 'done') call?.resolve(told[2]);
    else call?.reject(errorOf(told[2], call.name));
  }
}

function errorOf({ code, message, details, isFull = false }: FailureFrame, name: string): Error {
  if (code === 'UNKNOWN' && QUESTIONS.has(name)) return new StoreError('UNAVAILABLE', message);
  if (CODES.has(code)) return new StoreError(code as StoreErrorCode, message, { isFull });
  return new GatewayError({ code: code as GatewayError['code'], message, details });
}

function unreached(): GatewayError {
  return new GatewayError({
    code: 'STORE_FAILED',
    message: 'The process that keeps the store cannot be reached',
    details: { reason: 'unreachable' },
  });
}
