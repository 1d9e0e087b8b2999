import { connect, createServer, type Socket } from 'node:net';
import { portOf } from './host-server.js';

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  /** What is not passed on any more. */
  deaf: 'up' | 'down' | 'both' | undefined;
  /** When what the client has been given so far is due at the rate of the line. */
  due: number;
}

/** What a line may make up for when the machine had others to serve. */
const MAKES_UP_MS = 1000;

/**
 * A TCP proxy for all that goes wrong without a connection being closed: it can fall silent, lose one direction, delay, be slow, change
 * what the gateway says, and answer in its place.
 */
export class FaultProxy {
  readonly url: string;
  /** Connections there were. */
  opened = 0;
  /** What new connections lose. */
  deaf: Connection['deaf'];
  /** Milliseconds each piece takes, either way. */
  delayMs = 0;
  /** Bytes a second towards the client. */
  rate: number | undefined;
  /** Changes what goes to the client; must keep its length. */
  rewrite: ((text: string) => string) | undefined;
  /** Answers a request in the gateway's place, given its first line; null swallows it, undefined passes it on. */
  answer: ((request: string) => string | null | undefined) | undefined;
  readonly #open = new Set<Connection>();

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts a proxy in front of a gateway; it is closed after the test. */
  static async start(target: string): Promise<FaultProxy> {
    let proxy: FaultProxy;
    const server = createServer((client) =>
      proxy.#pass(client, connect(Number(new URL(target).port), '127.0.0.1')),
    );
    proxy = new FaultProxy(await portOf(server));
    return proxy;
  }

  /** Every open connection loses what it carries from now on, and stays open. */
  hush(deaf: Connection['deaf'] = 'both'): void {
    for (const connection of this.#open) connection.deaf = deaf;
  }

  /** Closes every open connection. */
  cut(): void {
    for (const { client, server } of this.#open) {
      client.destroy();
      server.destroy();
    }
  }

  #pass(client: Socket, server: Socket): void {
    this.opened += 1;
    const connection: Connection = { client, server, deaf: this.deaf, due: 0 };
    this.#open.add(connection);
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => {});
    client.on('close', () => {
      this.#open.delete(connection);
      server.destroy();
    });
    server.on('close', () => {
      // On a silent line nobody hears that the other end has closed.
      if (connection.deaf !== 'both' && connection.deaf !== 'down') client.destroy();
    });
    client.on('data', (chunk: Buffer) => {
      const line = /^(GET|POST) [^\r]+/.exec(chunk.toString('latin1', 0, 2048))?.[0];
      const answer = line && this.answer?.(line);
      if (answer === null) connection.deaf = 'both';
      else if (answer !== undefined && line) client.end(answer);
      else this.#write(chunk, connection, 'up');
    });
    server.on('data', (chunk: Buffer) => {
      const { rate, rewrite } = this;
      this.#write(
        rewrite ? Buffer.from(rewrite(chunk.toString('latin1')), 'latin1') : chunk,
        connection,
        'down',
      );
      if (!rate) return;
      const now = performance.now();
      // The first piece begins now; a late one is followed at once, so that the rate holds on a busy machine too.
      const from = connection.due === 0 ? now : Math.max(connection.due, now - MAKES_UP_MS);
      connection.due = from + (chunk.length / rate) * 1000;
      if (connection.due <= now) return;
      server.pause();
      setTimeout(() => server.resume(), connection.due - now).unref();
    });
  }

  #write(chunk: Buffer, connection: Connection, way: 'up' | 'down'): void {
    const pass = () => {
      if (connection.deaf === 'both' || connection.deaf === way) return;
      (way === 'up' ? connection.server : connection.client).write(chunk);
    };
    if (this.delayMs > 0) setTimeout(pass, this.delayMs);
    else pass();
  }
}

/** An answer that no gateway gives. */
export function foreignAnswer(status: string, body: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\n${headers}connection: close\r\n\r\n${body}`;
}
