import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Closing } from './closing.js';

/** What a line does with what it carries. */
export type LineState = 'open' | 'held' | 'cut';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP line that a test can cut, hold up and slow down, between a client and whoever listens at `target` at the time. */
export class Line {
  readonly port: number;
  target: number;
  #state: LineState = 'open';
  /** Milliseconds that each piece takes, either way. */
  delayMs = 0;
  readonly #pairs = new Set<Pair>();

  private constructor(port: number, target: number) {
    this.port = port;
    this.target = target;
  }

  static async open(target: number, closing: Closing): Promise<Line> {
    let line: Line;
    const server = createServer((near) => line.#carry(near));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    line = new Line((server.address() as AddressInfo).port, target);
    closing.add(line, () => {
      line.set('cut');
      server.close();
    });
    return line;
  }

  /** `cut` ends every connection and refuses new ones; `held` carries nothing and ends nothing. */
  set(state: LineState): void {
    this.#state = state;
    for (const { near, far } of this.#pairs) {
      if (state === 'cut') {
        near.destroy();
        far.destroy();
      } else {
        for (const socket of [near, far]) state === 'held' ? socket.pause() : socket.resume();
      }
    }
  }

  /** Ends every connection; new ones are carried. */
  sever(): void {
    const state = this.#state;
    this.set('cut');
    this.set(state);
  }

  #carry(near: Socket): void {
    near.on('error', () => {});
    if (this.#state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(this.target, '127.0.0.1');
    const pair: Pair = { near, far };
    this.#pairs.add(pair);
    far.on('error', () => {});
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      const late: Buffer[] = [];
      from.on('data', (chunk: Buffer) => {
        if (this.delayMs === 0 && late.length === 0) {
          to.write(chunk);
          return;
        }
        late.push(chunk);
        // Whichever timer comes first passes on what came first.
        setTimeout(() => to.write(late.shift()!), this.delayMs);
      });
      from.on('close', () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
    }
    if (this.#state === 'held') this.set('held');
  }
}
