import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomOf } from './random.js';
import { closeLater } from './resources.js';

/** Passes every request, stream and socket on to one of several gateways, by chance and without any stickiness. */
export class Balancer {
  readonly url: string;
  readonly #targets: readonly URL[];
  readonly #random: () => number;
  readonly #sockets: ReadonlySet<Duplex>;

  private constructor(
    url: string,
    targets: readonly URL[],
    random: () => number,
    sockets: ReadonlySet<Duplex>,
  ) {
    this.url = url;
    this.#targets = targets;
    this.#random = random;
    this.#sockets = sockets;
  }

  /** Starts one in front of these; it is closed after the test. @param seed What chance begins with */
  static async start(urls: readonly string[], seed: number): Promise<Balancer> {
    const sockets = new Set<Socket>();
    const server = createServer({ keepAliveTimeout: 0 });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const targets = urls.map((url) => new URL(url));
    const balancer = new Balancer(`http://127.0.0.1:${port}`, targets, randomOf(seed), sockets);
    server.on('request', (asked, answer) => {
      balancer.#pass(asked, answer).catch(() => answer.destroy());
    });
    server.on('upgrade', (asked, socket, head) => {
      balancer.#upgrade(asked, socket, head).catch(() => socket.destroy());
    });
    return closeLater(balancer, (it) => {
      it.cutAll();
      server.close();
    });
  }

  /** Cuts everything that is open. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The same request, to any of them. A connection of its own each time: none is ended under a request that just went out on it. */
  async #again({ method, url, rawHeaders }: IncomingMessage): Promise<ClientRequest> {
    const socket = await this.#connect();
    return request({
      createConnection: () => socket,
      method,
      path: url,
      headers: rawHeaders as never,
      setHost: false,
    });
  }

  /** Connects to any of those that listen. */
  async #connect(): Promise<Socket> {
    const left = [...this.#targets];
    for (;;) {
      const [{ hostname, port }] = left.splice(Math.floor(this.#random() * left.length), 1) as [URL];
      const socket = connect(Number(port), hostname);
      try {
        await once(socket, 'connect');
        return socket;
      } catch (error) {
        if (left.length === 0) throw error;
      }
    }
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const passed = await this.#again(asked);
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode!, response.statusMessage, response.rawHeaders);
      answer.flushHeaders();
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    passed.on('error', () => answer.destroy());
    if (answer.destroyed) passed.destroy();
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  }

  async #upgrade(asked: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const passed = await this.#again(asked);
    const ends = (other: Duplex): void => {
      socket.on('close', () => other.destroy());
      other.on('close', () => socket.destroy());
      for (const end of [socket, other]) end.on('error', () => {});
    };
    passed.on('upgrade', (response, other, rest) => {
      ends(other);
      socket.write(`HTTP/1.1 101 ${response.statusMessage}\r\n${lines(response.rawHeaders)}\r\n`);
      socket.write(rest);
      other.write(head);
      socket.pipe(other).pipe(socket);
    });
    passed.on('response', (response) => {
      socket.write(
        `HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${lines(response.rawHeaders)}\r\n`,
      );
      response.pipe(socket);
    });
    passed.on('error', () => socket.destroy());
    passed.end();
  }
}

function lines(raw: readonly string[]): string {
  return raw.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
}
