import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bodies that may take as long as they keep coming. */
const long = new WeakSet<IncomingMessage>();

/** Says that a body is large: whoever reads it cuts it off by itself when nothing of it comes any more. */
export function mayTakeLong(request: IncomingMessage): void {
  long.add(request);
}

/**
 * Cuts requests whose body is not whole in time, with 408. Node's own bound (`requestTimeout`) is one for all requests of a server, and
 * uploads may take longer.
 */
export class BodyTimes {
  readonly #pending = new Map<IncomingMessage, number>();
  readonly #timer: NodeJS.Timeout;

  /** @param withinMs Time for a body, from its request's head on. @param everyMs How often is looked */
  constructor(withinMs: number, everyMs: number) {
    this.#timer = setInterval(() => this.#check(performance.now() - withinMs), everyMs).unref();
  }

  /** A request has begun. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    this.#pending.set(request, performance.now());
    // A body of which more comes than is read goes on after its answer.
    response.once('close', () => request.complete && this.#pending.delete(request));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(before: number): void {
    for (const [request, at] of this.#pending) {
      const { socket } = request;
      if (request.complete || socket.destroyed) this.#pending.delete(request);
      else if (at < before && !long.has(request)) {
        this.#pending.delete(request);
        // As Node does it.
        if (socket.writable) socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
        socket.destroySoon();
      }
    }
  }
}
