import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests whose bodies may take any time, as long as bytes keep arriving. */
const long = new WeakSet<IncomingMessage>();

/** Exempts a large body from the time limit. Its reader must cut it off by itself when no more bytes arrive. */
export function mayTakeLong(request: IncomingMessage): void {
  long.add(request);
}

const CARRIED = Symbol('carried');

/** The last request and response of a connection, which carries them one after the other. */
interface Carried {
  /** The last request with a body, unless that body is known to be complete. */
  request: IncomingMessage | null;
  /** Time at which its head was read, in monotonic milliseconds. */
  since: number;
  /** The last response, unless it is known to be closed. */
  response: ServerResponse | null;
}

type CarryingSocket = Socket & { [CARRIED]?: Carried };

/**
 * Watches the requests on the connections of a server. Cuts requests whose body is not complete in time, with 408: Node's own bound
 * (`requestTimeout`) holds for all requests of a server, and uploads may take longer. Also reports when no request is being answered.
 *
 * It listens to connections and not to each response: with more than one listener on each response, V8 moves all requests to its old
 * generation, which costs a sixth of answering a call.
 */
export class CarriedRequests {
  readonly #sockets = new Set<CarryingSocket>();
  readonly #timer: NodeJS.Timeout;

  /** @param withinMs Time for a body, from its request's head on. @param everyMs Time between two checks */
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

  /** Stops cutting requests. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Calls back once no request is being answered, which may be at once. */
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
      // Other requests may have begun meanwhile.
      if (left === 0) this.whenNone(listener);
    };
    for (const response of open) response.once('close', closed);
  }

  #check(before: number): void {
    for (const socket of this.#sockets) {
      const carried = socket[CARRIED]!;
      const { request, response, since } = carried;
      // An idle connection must not keep its last response in memory.
      if (response?.closed) carried.response = null;
      if (!request) continue;
      if (request.complete) carried.request = null;
      else if (since < before && !long.has(request)) {
        carried.request = null;
        // Node answers a late request in the same way.
        if (socket.writable) socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
        socket.destroySoon();
      }
    }
  }
}
