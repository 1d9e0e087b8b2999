import { createDelta, END, MARKER, nowMicros } from '../peers/application.js';
import type { Script } from '../peers/peer.js';
import type { Counts } from './commands.js';
import { Connection, type ConnectionListener, type Target } from './connection.js';
import { Latencies } from './latencies.js';

const MARKER_BYTE = MARKER.charCodeAt(0);
const END_BYTE = END.charCodeAt(0);
const DIGITS = 16;
/** What stands before the digits of an event, or of the first of several that a server joined: a repeated answer is not timed. */
const BEFORE_DIGITS = Buffer.from('delta":"');
/** Bytes from the marker of an event to that of the next one that was joined to it. */
const JOINED_AFTER = createDelta().delta.length;
/** Handshakes at the same time: fewer than a server keeps waiting to be accepted. */
const CONNECTING = 64;

/**
 * Clients that count. It knows nothing of SSE or WebSocket: an event is a marker byte, and the digits before it are the time when it was
 * produced. What a client does with an event is left out on purpose, so that one process can ask for more than a server can give.
 */
export class Generator implements ConnectionListener {
  readonly #connections: Connection[] = [];
  #onReady: () => void = () => {};
  #onProgress: () => void = () => {};
  readonly #event = new Latencies();
  readonly #first = new Latencies();
  readonly #answer = new Latencies();
  #timed = false;
  #answers: 'none' | 'http' | 'marked' = 'none';
  /** Requests of a closed loop that are not sent yet. */
  #toSend = 0;
  #events = 0;
  /** Events before the last `zero`. */
  #eventsBefore = 0;
  #bytes = 0;
  #requests = 0;
  #refused = 0;
  #late = 0;
  #waiting = 0;
  #closed = 0;
  #beganAt = 0;
  #lastAt = 0;
  #cpu = process.cpuUsage();
  #rate: NodeJS.Timeout | undefined;
  #turn = 0;

  async connect(scripts: readonly Script[], target: Target): Promise<{ ready: number }> {
    let settled = 0;
    await new Promise<void>((resolve) => {
      const open = (): void => {
        while (this.#connections.length < scripts.length && this.#connections.length - settled < CONNECTING)
          this.#connections.push(
            new Connection(scripts[this.#connections.length]!, target, this, this.#connections.length),
          );
      };
      this.#onReady = () => {
        settled += 1;
        if (settled === scripts.length) resolve();
        else open();
      };
      open();
    });
    this.#onReady = () => {};
    return { ready: this.#connections.filter(({ isReady, isClosed }) => isReady && !isClosed).length };
  }

  zero(latencies: boolean): void {
    this.#timed = latencies;
    for (const times of [this.#event, this.#first, this.#answer]) times.clear();
    this.#eventsBefore += this.#events;
    this.#events = this.#bytes = this.#requests = this.#refused = this.#late = 0;
    this.#cpu = process.cpuUsage();
    this.#beganAt = this.#lastAt = nowMicros();
  }

  count(events: number, timeoutMs: number): Promise<Counts> {
    return this.#until(() => this.#events >= events, timeoutMs);
  }

  fire(events: number, timeoutMs: number): Promise<Counts> {
    this.zero(false);
    for (const connection of this.#connections) connection.request();
    return this.count(events, timeoutMs);
  }

  async requests(total: number, answers: 'http' | 'marked', timeoutMs: number): Promise<Counts> {
    this.zero(true);
    this.#answers = answers;
    this.#toSend = total;
    for (const connection of this.#connections) this.#send(connection);
    const counts = await this.#until(() => this.#requests >= total, timeoutMs);
    this.#toSend = 0;
    return counts;
  }

  /** Sends at a rate that does not wait for the server, as people do. */
  rate(perSecond: number, answers: 'http' | 'marked'): void {
    clearInterval(this.#rate);
    this.#answers = answers;
    let due = 0;
    let at = performance.now();
    if (perSecond === 0) return;
    this.#rate = setInterval(() => {
      const now = performance.now();
      due += ((now - at) * perSecond) / 1000;
      at = now;
      for (; due >= 1; due -= 1) this.#sendByNext();
    }, 5);
  }

  destroy(): void {
    clearInterval(this.#rate);
    for (const connection of this.#connections) connection.destroy();
  }

  get counts(): Counts {
    const { user, system } = process.cpuUsage(this.#cpu);
    return {
      events: this.#events,
      eventsEver: this.#eventsBefore + this.#events,
      bytes: this.#bytes,
      requests: this.#requests,
      refused: this.#refused,
      late: this.#late,
      waiting: this.#waiting,
      closed: this.#closed,
      micros: this.#lastAt - this.#beganAt,
      endedAt: this.#lastAt,
      cpu: user + system,
      eventLatency: this.#event.percentiles,
      firstLatency: this.#first.percentiles,
      answerLatency: this.#answer.percentiles,
    };
  }

  ready(): void {
    this.#onReady();
  }

  closed(connection: Connection): void {
    this.#closed += 1;
    if (!connection.isReady) this.#onReady();
    if (connection.sentAt > 0) this.#waiting -= 1;
    this.#onProgress();
  }

  data(connection: Connection, bytes: Buffer, from: number, to: number): void {
    this.#bytes += to - from;
    const before = this.#events;
    this.#countEvents(bytes, from, to);
    if (connection.sentAt > 0) {
      if (this.#events > before && !connection.hasBegun) {
        connection.hasBegun = true;
        this.#first.add(nowMicros() - connection.sentAt);
      }
      this.#readAnswer(connection, bytes, from, to);
    }
    this.#lastAt = nowMicros();
    this.#onProgress();
  }

  #countEvents(bytes: Buffer, from: number, to: number): void {
    const now = this.#timed ? nowMicros() : 0;
    // The search always ends here, and not somewhere in what an earlier read has left.
    bytes[to] = MARKER_BYTE;
    let timed = -1;
    for (let at = bytes.indexOf(MARKER_BYTE, from); at < to; at = bytes.indexOf(MARKER_BYTE, at + 1)) {
      this.#events += 1;
      if (!this.#timed) continue;
      if (at !== timed + JOINED_AFTER && !this.#isFirst(bytes, from, at)) continue;
      this.#addLatency(bytes, at, now);
      timed = at;
    }
  }

  /** Whether an event begins here. One that came in two reads is only counted. */
  #isFirst(bytes: Buffer, from: number, marker: number): boolean {
    let before = marker - DIGITS - BEFORE_DIGITS.length;
    if (before < from) return false;
    for (const byte of BEFORE_DIGITS) if (bytes[before++] !== byte) return false;
    return true;
  }

  #addLatency(bytes: Buffer, marker: number, now: number): void {
    let producedAt = 0;
    for (let at = marker - DIGITS; at < marker; at++) producedAt = producedAt * 10 + bytes[at]! - 48;
    this.#event.add(now - producedAt);
  }

  #readAnswer(connection: Connection, bytes: Buffer, from: number, to: number): void {
    const isWhole =
      this.#answers === 'http'
        ? connection.answer.read(bytes, from, to) >= 0
        : bytes.subarray(from, to).includes(END_BYTE);
    if (!isWhole) return;
    this.#answer.add(nowMicros() - connection.sentAt);
    connection.sentAt = 0;
    this.#waiting -= 1;
    this.#requests += 1;
    const { status } = connection.answer;
    if (this.#answers === 'http' && (status < 200 || status > 299)) this.#refused += 1;
    if (this.#toSend > 0) this.#send(connection);
  }

  #send(connection: Connection): void {
    if (this.#toSend > 0) this.#toSend -= 1;
    connection.sentAt = nowMicros();
    connection.hasBegun = false;
    this.#waiting += 1;
    connection.request();
  }

  #sendByNext(): void {
    for (let tried = 0; tried < this.#connections.length; tried++) {
      const connection = this.#connections[this.#turn++ % this.#connections.length]!;
      if (connection.sentAt === 0 && connection.isReady && !connection.isClosed) {
        this.#send(connection);
        return;
      }
    }
    this.#late += 1;
  }

  async #until(isDone: () => boolean, timeoutMs: number): Promise<Counts> {
    if (!isDone())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#onProgress = () => {
          if (!isDone()) return;
          clearTimeout(timer);
          resolve();
        };
      });
    this.#onProgress = () => {};
    return this.counts;
  }
}
