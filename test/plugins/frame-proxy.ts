import type { IncomingMessage, ServerResponse } from 'node:http';
import { passOn } from './passing-proxy.js';

/** How the next streams end: after so many frames, the connection cut or ended as if that were all. */
export interface Cut {
  readonly after: number;
  readonly clean: boolean;
  /** Has the end wait, so that its reader can take in what came before: a connection that breaks may lose that. */
  readonly when?: Promise<unknown>;
}

const WHOLE: Cut = { after: Number.POSITIVE_INFINITY, clean: false };

/** Passes requests on to a gateway, and ends event streams early where it is told to. */
export class FrameProxy {
  readonly url: string;
  /** One for each of the next streams; those behind them are passed on whole. */
  readonly cuts: Cut[] = [];
  /** How many frames of each stream were passed on so far. */
  readonly frames: number[] = [];
  /** How many streams were ended early. */
  ended = 0;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts a proxy in front of a gateway; it is closed after the test. */
  static async start(target: string): Promise<FrameProxy> {
    let proxy: FrameProxy;
    proxy = new FrameProxy(await passOn(target, (response, answer) => proxy.#stream(response, answer)));
    return proxy;
  }

  #stream(response: IncomingMessage, answer: ServerResponse): void {
    const cut = this.cuts.shift() ?? WHOLE;
    const stream = this.frames.push(0) - 1;
    let text = '';
    const stop = (): void => {
      this.ended += 1;
      // Its own end is none of the answer's any more.
      response.removeAllListeners('data').removeAllListeners('end').resume();
      void Promise.resolve(cut.when).then(() => {
        if (cut.clean) answer.end();
        // What was passed on still arrives before the end that comes too early.
        else answer.socket?.end();
      });
    };
    if (cut.after === 0) return stop();
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
        const frame = text.slice(0, at + 2);
        text = text.slice(at + 2);
        answer.write(frame);
        if (frame.startsWith(':')) continue;
        this.frames[stream]! += 1;
        if (this.frames[stream] === cut.after) return stop();
      }
    });
    response.on('end', () => answer.end());
  }
}

/** The platform's `fetch` as browsers have it: what is cut off fails as a network error, which clients look for. */
export const browserFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init).catch((error: unknown) => {
    throw toNetworkError(error);
  });
  if (!response.body) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(toNetworkError(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
};

function toNetworkError(error: unknown): unknown {
  return error instanceof TypeError ? new TypeError('network error') : error;
}
