import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bodies that may take as long as they keep coming. */
const long = new WeakSet<IncomingMessage>();

/** Says that a body is large: whoever reads it cuts it off by itself when nothing of it comes any more. */
export function mayTakeLong(request: IncomingMessage): void {
  long.add(request);
}

const CARRIED = Symbol('carried');

/** What a connection carried last: requests and answers follow each other on it. */
interface Carried {
  /** The last request with a body, unless that was seen to be whole. */
  request: IncomingMessage | null;
  /** When its head was read; monotonic milliseconds. */
  since: number;
  /** The last answer, unless that was seen to be over. */
  response: ServerResponse | null;
}

type CarryingSocket = Socket & { [CARRIED]?: Carried };

/**
 * What the connections of a server carry. Cuts requests whose body is not whole in time, with 408: Node's own bound (`requestTimeout`) is
 * one for all requests of a server, and uploads may take longer. And tells when nothing is being answered.
 *
 * It listens to connections and not to each answer: with more than one listener for each, V8 moves all requests to its old generation,
 * which costs a sixth of answering a call.
 */
export class CarriedRequests {
  readonly #sockets = new Set<CarryingSocket>();
  readonly #timer: NodeJS.Timeout;

  /** @param withinMs Time for a body, from its request's head on. @param everyMs How often is looked */
  constructor(withinMs: number, everyMs: number) {
    this.#timer = setInterval(() => this.#check(performance.now() - withinMs), everyMs).unref();
  }

  /** A request has begun. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    const socket = request.socket as CarryingSocket;
    const carried = socket[CARRIED] ?? this.#follow(socket);
    carried.response = response;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    carried.request = request;
    carried.since = performance.now();
  }

  #follow(socket: CarryingSocket): Carried {
    const carried: Carried = { request: null, since: 0, response: null };
    socket[CARRIED] = carried;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return carried;
  }

  /** Cuts none from now on. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Calls back once nothing is being answered, which may be now. */
  whenNone(listener: () => void): void {
    const open: ServerResponse[] = [];
    for (const socket of this.#sockets) {
      const { response } = socket[CARRIED]!;
      if (response && !response.closed) open.push(response);
    }
    if (open.length === 0) return listener();
    let left = open.length;
    const closed = (): void => {
      left -= 1;
      // Others may have begun meanwhile.
      if (left === 0) this.whenNone(listener);
    };
    for (const response of open) response.once('close', closed);
  }

  #check(before: number): void {
    for (const socket of this.#sockets) {
      const carried = socket[CARRIED]!;
      const { request, response, since } = carried;
      // An idle connection holds nothing.
      if (response?.closed) carried.response = null;
      if (!request) continue;
      if (request.complete) carried.request = null;
      else if (since < before && !long.has(request)) {
        carried.request = null;
        // As Node does it.
        if (socket.writable) socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
        socket.destroySoon();
      }
    }
  }
}
