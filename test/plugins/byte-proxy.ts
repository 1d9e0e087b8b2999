import type { IncomingMessage, ServerResponse } from 'node:http';
import { passOn } from './passing-proxy.js';

/** Passes requests on to a gateway, and cuts all event streams at once, as a network that breaks does, after so many bytes of one. */
export class ByteProxy {
  readonly url: string;
  /** The byte behind which they are cut next, of the first stream that comes to it. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** How often they were cut. */
  cuts = 0;
  readonly #streams = new Set<() => void>();

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts a proxy in front of a gateway; it is closed after the test. */
  static async start(target: string): Promise<ByteProxy> {
    let proxy: ByteProxy;
    proxy = new ByteProxy(await passOn(target, (response, answer) => proxy.#stream(response, answer)));
    return proxy;
  }

  #stream(response: IncomingMessage, answer: ServerResponse): void {
    let sent = 0;
    // What was passed on still arrives before the end that comes too early.
    const cut = (): void => {
      response.removeAllListeners('data');
      answer.socket?.end();
    };
    this.#streams.add(cut);
    answer.on('close', () => this.#streams.delete(cut));
    response.on('data', (chunk: Buffer) => {
      const left = this.cutAfter - sent;
      sent += chunk.length;
      answer.write(chunk.subarray(0, left));
      if (chunk.length < left) return;
      this.cutAfter = Number.POSITIVE_INFINITY;
      this.cuts += 1;
      for (const end of this.#streams) end();
    });
    response.on('end', () => answer.end());
  }
}
