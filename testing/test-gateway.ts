import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GivenMethods } from '../server/gateway/gateway.js';
import {
  type Application,
  type AuthConfig,
  type BaseUser,
  createGateway,
  type Gateway,
  type GatewayConfig,
  type GatewayPlugin,
  type MethodTree,
  memoryFiles,
  type PayloadSchemas,
} from '../server/index.js';
import { type Clock, holdClock } from './clock.js';
import { keepStore, type StoreLine } from './kept-store.js';
import { openTestClient, type TestClient, type TestClientOptions } from './test-client.js';

/** What of a test there is beside a gateway's configuration. */
export interface KitOptions {
  /** Has time stand still until `clock.advance`. Needs the package `@sinonjs/fake-timers`. @default false */
  readonly clock?: boolean | undefined;
  /** Plugins of each gateway: a restart makes another one. */
  readonly plugins?: (() => readonly GatewayPlugin[]) | undefined;
}

/** A line of a gateway's log. */
export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A gateway under test: what it keeps, its address and its clients stay while gateways come and go. */
export interface TestGateway<Source extends object = Gateway<any, any, any>> extends AsyncDisposable {
  /** The one that serves now; another one after a restart. */
  readonly gateway: Source;
  /** Where it listens, on loopback. */
  readonly url: string;
  /** What it has logged. */
  readonly log: readonly LogLine[];
  /** The time, which stands still. Only with `clock: true`. */
  readonly clock: Clock;
  /**
   * A client, disconnected with the gateway. With the gateway's own `auth`, give `user` (in process, the default) or a `token` that
   * `auth` knows; without, a user's id is its token.
   */
  client(options?: TestClientOptions): TestClient<Source>;
  /** Closes the gateway as a deployment does: it drains, and another one goes on with what is stored. */
  restart(): Promise<void>;
  /**
   * Ends the gateway as the end of its process does, without a word: connections break, and nothing that it does from now on is stored.
   * Functions of the app that were under way run on in this process, but nobody hears of them. Another one goes on with what is stored.
   */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Authentication by name: the token `ada` is the user `ada`. */
const byName: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: async (token) => (token ? { valid: true, user: { id: token } } : { valid: false }),
};

/**
 * Starts a gateway in this process, on a free port of loopback, with a store that outlives it.
 *
 * @throws GatewayError as `createGateway`; `INTERNAL` where `clock` needs a package that is not installed
 *
 * @example
 * ```ts
 * await using gateway = await testGateway({ app });
 * const run = gateway.client().send('main', 'Hello');
 * const { message } = await run.result;
 * ```
 */
export async function testGateway<
  Methods extends MethodTree,
  const Channels extends PayloadSchemas = Readonly<Record<never, never>>,
  const Events extends PayloadSchemas = Readonly<Record<never, never>>,
  const Single extends Application = never,
  const Many extends Readonly<Record<string, Application>> = Readonly<Record<never, never>>,
>(
  options: KitOptions & GatewayConfig<Methods, Channels, Events, Single, Many>,
): Promise<TestGateway<Gateway<GivenMethods<Methods>, Channels, Events, Single | Many[keyof Many]>>> {
  return (await TestHost.start(options as KitOptions & GatewayConfig)) as unknown as never;
}

type Held = Awaited<ReturnType<typeof holdClock>>;

/** The gateway, whatever its type: `testGateway` says what that is. */
class TestHost {
  readonly #config: GatewayConfig;
  readonly #plugins: NonNullable<KitOptions['plugins']>;
  readonly #store: ReturnType<typeof keepStore>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<TestClient>();
  readonly #held: Held | null;
  readonly log: LogLine[] = [];
  #line!: StoreLine;
  #gateway: Gateway<any, any, any> | null = null;
  #closed: Promise<void> | null = null;

  static async start({
    clock = false,
    plugins = () => [],
    ...config
  }: KitOptions & GatewayConfig): Promise<TestHost> {
    const held = clock ? await holdClock() : null;
    try {
      const host = new TestHost(config, plugins, held);
      await host.#begin();
      await new Promise<void>((resolve) => host.#server.listen(0, '127.0.0.1', resolve));
      return host;
    } catch (error) {
      held?.release();
      throw error;
    }
  }

  private constructor(config: GatewayConfig, plugins: NonNullable<KitOptions['plugins']>, held: Held | null) {
    const level =
      (level: LogLine['level']) =>
      (details: Readonly<Record<string, unknown>>, message: string): void => {
        this.log.push({ level, message, details });
      };
    this.#held = held;
    this.#plugins = plugins;
    this.#store = keepStore(config.store);
    this.#config = {
      auth: byName,
      files: config.store?.files ?? memoryFiles(),
      logger: { info: level('info'), warn: level('warn'), error: level('error') },
      ...config,
      embedded: true,
      limits: { drainMs: 200, ...config.limits },
    };
    this.#server = createServer((request, response) => {
      if (this.#gateway) this.#gateway.handleRequest(request, response);
      else request.socket.destroy();
    });
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.#gateway) this.#gateway.handleUpgrade(request, socket, head);
      else socket.destroy();
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get gateway(): Gateway<any, any, any> {
    if (!this.#gateway) throw new Error('The gateway is being restarted, or was closed');
    return this.#gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get clock(): Clock {
    if (!this.#held) throw new Error('Time goes on by itself here: testGateway({ clock: true })');
    return this.#held;
  }

  client(options: TestClientOptions = {}): TestClient {
    const hasOwnAuth = this.#config.auth !== byName;
    const user: BaseUser | undefined = typeof options.user === 'string' ? { id: options.user } : options.user;
    const client = openTestClient({
      ...options,
      user: user ?? (hasOwnAuth ? undefined : { id: 'user' }),
      token: options.token ?? (hasOwnAuth ? undefined : (user?.id ?? 'user')),
      url: this.url,
      gateway: () => this.#gateway,
    });
    this.#clients.add(client);
    return client;
  }

  async restart(): Promise<void> {
    const { gateway } = this;
    await gateway.close();
    this.#gateway = null;
    await this.#goOn();
  }

  async kill(): Promise<void> {
    this.#line.cut();
    this.#gateway = null;
    await this.#goOn();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #begin(): Promise<void> {
    const line = this.#store.line();
    const gateway = createGateway({ ...this.#config, store: line.store });
    for (const plugin of this.#plugins()) gateway.use(plugin);
    await gateway.start();
    this.#line = line;
    this.#gateway = gateway;
  }

  async #goOn(): Promise<void> {
    this.#hangUp();
    await this.#begin();
    // An answer ends a client's wait before its next attempt.
    for (const client of this.#clients)
      if (client.connection.state === 'reconnecting') client.status().catch(() => {});
  }

  /** Breaks what clients have open. */
  #hangUp(): void {
    for (const client of this.#clients) client.cut();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #close(): Promise<void> {
    // Held time would hold up what waits for it.
    this.#held?.release();
    for (const client of this.#clients) client.disconnect();
    await this.#gateway?.close();
    this.#gateway = null;
    this.#hangUp();
    await this.#store.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
