import { connect } from 'node:net';
import WebSocket from 'ws';
import { EventReader } from '../../shared/event-reader.js';
import { LineDecoder } from '../../shared/ndjson.js';
import { TOKEN } from './gateway.js';
import { closeLater } from './resources.js';
import { wholeData } from './sse-client.js';

/** A frame; the data of an event with what the wire leaves out. */
export type RawFrame = { readonly type?: string; readonly [field: string]: any };

interface RawWire {
  send(text: string): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** A socket that speaks whatever a test has it say. */
export class RawSocket {
  readonly frames: RawFrame[] = [];
  /** As they came. */
  readonly texts: string[] = [];
  readonly #reader = new EventReader();
  /** Resolves once it is closed, with the code of a WebSocket. */
  readonly closed: Promise<number>;
  #close!: (code: number) => void;
  #isClosed = false;
  #waiters: (() => void)[] = [];
  readonly #wire: RawWire;

  constructor(wire: RawWire) {
    this.#wire = wire;
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  /** Sends a text as one frame. */
  send(text: string): void {
    this.#wire.send(text);
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#wire.pause();
  }

  resume(): void {
    this.#wire.resume();
  }

  destroy(): void {
    this.#wire.destroy();
  }

  take(text: string): void {
    this.texts.push(text);
    const frame = JSON.parse(text);
    const { event, id } = frame;
    if (event) frame.data = wholeData(this.#reader, event, frame.data, id);
    this.frames.push(frame);
    this.#wake();
  }

  end(code: number): void {
    this.#isClosed = true;
    this.#close(code);
    this.#wake();
  }

  say(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  /** Waits for a frame that matches; fails when the socket is closed first. */
  async until(matches: (frame: RawFrame) => boolean): Promise<RawFrame> {
    for (;;) {
      const found = this.frames.find(matches);
      if (found) return found;
      if (this.#isClosed) throw new Error(`closed with ${JSON.stringify(this.frames).slice(0, 500)}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Waits for the n-th event of a type and returns its data. */
  async event(type: string, n = 1): Promise<any> {
    let left = n;
    const seen = new Set<RawFrame>();
    const frame = await this.until((it) => {
      if (it.event !== type || seen.has(it)) return false;
      seen.add(it);
      left -= 1;
      return left === 0;
    });
    return frame.data;
  }

  /** Asks, and waits for the answer. */
  async ask(id: string, method: string, params?: unknown): Promise<RawFrame> {
    this.say({ type: 'req', id, method, params });
    return this.until((frame) => frame.type === 'res' && frame.id === id);
  }

  /** Introduces itself and waits for `connected`. */
  async connect(options: object = {}): Promise<any> {
    this.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: TOKEN, ...options });
    return this.event('connected');
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }
}

/** Opens a WebSocket to a gateway; closed after the test. */
export async function openWebSocket(
  url: string,
  path = '/ws',
  headers: Readonly<Record<string, string>> = {},
): Promise<RawSocket & { readonly webSocket: WebSocket }> {
  const webSocket = new WebSocket(url.replace('http', 'ws') + path, { headers });
  const socket = new RawSocket({
    send: (text) => webSocket.send(text),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    destroy: () => webSocket.terminate(),
  });
  closeLater(socket, (it) => it.destroy());
  webSocket.on('message', (data) => socket.take(String(data)));
  webSocket.on('close', (code) => socket.end(code));
  await new Promise((resolve, reject) => {
    webSocket.once('open', resolve);
    webSocket.once('error', reject);
  });
  webSocket.on('error', () => {});
  return Object.assign(socket, { webSocket });
}

/** Opens a Unix socket to a gateway; closed after the test. */
export async function openUnixSocket(
  path: string,
): Promise<RawSocket & { write(bytes: Buffer | string): void }> {
  const client = connect(path);
  const lines = new LineDecoder(1 << 26);
  const socket = new RawSocket({
    send: (text) => client.write(`${text}\n`),
    pause: () => client.pause(),
    resume: () => client.resume(),
    destroy: () => client.destroy(),
  });
  closeLater(socket, (it) => it.destroy());
  client.on('data', (chunk) => {
    for (const line of lines.feed(chunk)) socket.take(line);
  });
  client.on('close', () => socket.end(0));
  await new Promise((resolve, reject) => {
    client.once('connect', resolve);
    client.once('error', reject);
  });
  client.on('error', () => {});
  return Object.assign(socket, { write: (bytes: Buffer | string) => void client.write(bytes) });
}
