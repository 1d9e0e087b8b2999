import { EventEmitter, once } from 'node:events';
import { z } from 'zod';
import { type Client, createClient } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { createGateway, type GatewayConfig, method, tracked } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { behindProxy } from '../support/behind-proxy.js';
import { CuttingSocket } from '../support/cutting-socket.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

/** Numbers from 1, which a method tells from the place of its caller and goes on telling. */
export class Feed {
  head = 0;
  /** Where each call of the method began. */
  readonly calls: (string | undefined)[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);

  push(): void {
    this.head += 1;
    this.#news.emit('news');
  }

  /** Tells its place first, so that a caller who was told nothing yet is resumed too. */
  readonly methods = {
    feed: method({
      schema: z.object({ to: z.number() }),
      result: z.object({ n: z.number() }),
      handler: (params, { lastEventId, signal }) => this.#tell(params.to, lastEventId, signal),
      stream: true,
    }),
    plain: method({ stream: true, handler: (_params: void, { signal }) => this.#plain(signal) }),
  };

  async *#tell(to: number, lastEventId: string | undefined, signal: AbortSignal) {
    this.calls.push(lastEventId);
    let at = Number(lastEventId ?? 0);
    yield tracked(String(at));
    while (at < to) {
      while (at < Math.min(this.head, to)) yield tracked(String(++at), { n: at });
      if (at < to) await once(this.#news, 'news', { signal });
    }
  }

  async *#plain(signal: AbortSignal): AsyncGenerator<number> {
    yield 1;
    await once(this.#news, 'news', { signal });
    yield 2;
  }
}

interface Line {
  readonly client: Client;
  cut(): void;
}

/** Starts a gateway behind each way to it, and gives a client of it and what cuts all lines between them. */
export const DOORS: Readonly<Record<string, (config: GatewayConfig<any, any, any>) => Promise<Line>>> = {
  async sse(config) {
    const { client, proxy } = await behindProxy('sse', config);
    return { client, cut: () => proxy.cut() };
  },
  async websocket(config) {
    const { client, proxy } = await behindProxy('websocket', config);
    return { client, cut: () => proxy.cut() };
  },
  async 'a Unix socket'(config) {
    const socketPath = `${socketDirectory()}/gateway.sock`;
    const logger = new TestLogger();
    const gateway = createGateway({ embedded: true, socketPath, logger, app: echo, ...config });
    closeLater(gateway, (it) => it.close());
    await gateway.start();
    const proxy = await CuttingSocket.start(socketPath);
    const transport = createUnixSocketClientTransport({ socketPath: proxy.path });
    const client = closeLater(createClient({ transport }), (it) => it.disconnect());
    return { client, cut: () => proxy.cutAll() };
  },
  async 'gateway.fetch'(config) {
    const logger = new TestLogger();
    const gateway = createGateway({ embedded: true, logger, app: echo, ...config, limits: { drainMs: 0 } });
    closeLater(gateway, (it) => it.close());
    let lines = new AbortController();
    const fetch = (async (url: string, init: RequestInit) => {
      const response = await gateway.fetch(new Request(url, init));
      const { signal } = lines;
      const { readable, writable } = new TransformStream();
      response.body?.pipeTo(writable, { signal }).catch(() => {});
      return new Response(response.body && readable, response);
    }) as typeof globalThis.fetch;
    const client = createClient({ baseUrl: 'http://gateway.test', fetch });
    return {
      client: closeLater(client, (it) => it.disconnect()),
      cut: () => {
        lines.abort(new Error('cut'));
        lines = new AbortController();
      },
    };
  },
};

/** A feed behind a door, and a subscription to its first numbers. */
export async function subscribed(open: (typeof DOORS)[string], to: number) {
  const feed = new Feed();
  const line = await open({ methods: feed.methods });
  return { feed, ...line, items: line.client.stream('feed', { to }) };
}
