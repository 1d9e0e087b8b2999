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
import { type KeptStoreLine, keepStore } from './kept-store.js';
import { openTestClient, type TestClient, type TestClientOptions } from './test-client.js';

/** Options of a test besides a gateway's configuration. */
export interface KitOptions {
  /** Stops time until `clock.advance`. Needs the package `@sinonjs/fake-timers`. @default false */
  readonly clock?: boolean | undefined;
  /** Makes the plugins of each gateway, because a restart makes a new gateway. */
  readonly plugins?: (() => readonly GatewayPlugin[]) | undefined;
}

/** A line of a gateway's log. */
export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A gateway under test. Its stored data, its address and its clients survive restarts of the gateway. */
export interface TestGateway<Source extends object = Gateway<any, any, any>> extends AsyncDisposable {
  /** The present gateway; a new one after a restart. */
  readonly gateway: Source;
  /** The gateway's URL, on loopback. */
  readonly url: string;
  /** Lines that the gateway logged. */
  readonly log: readonly LogLine[];
  /** The stopped time. Only with `clock: true`. */
  readonly clock: Clock;
  /**
   * Opens a client, which is disconnected with the gateway. If the gateway has its own `auth`, give `user` (in process, the default) or a `token`
   * that `auth` accepts; otherwise a user's id is the token.
   */
  client(options?: TestClientOptions): TestClient<Source>;
  /** Restarts the gateway like a deployment: the old one drains, and a new one continues with the stored data. */
  restart(): Promise<void>;
  /**
   * Ends the gateway abruptly, as the end of its process would: connections break, and it stores nothing more. Functions of the app continue in this
   * process, without effect. A new gateway continues with the stored data.
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
 * @throws GatewayError as `createGateway`; `INTERNAL` if `clock` needs a package that is not installed
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

type HeldClock = Awaited<ReturnType<typeof holdClock>>;

/** The untyped implementation of `TestGateway`. `testGateway` adds the types. */
class TestHost {
  readonly #config: GatewayConfig;
  readonly #plugins: NonNullable<KitOptions['plugins']>;
  readonly #store: ReturnType<typeof keepStore>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<TestClient>();
  readonly #held: HeldClock | null;
  readonly log: LogLine[] = [];
  #line!: KeptStoreLine;
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

  private constructor(
    config: GatewayConfig,
    plugins: NonNullable<KitOptions['plugins']>,
    held: HeldClock | null,
  ) {
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
      limits: { drainMs: 200, gatherMs: 0, ...config.limits },
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

  /** Breaks the clients' connections. */
  #hangUp(): void {
    for (const client of this.#clients) client.cut();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #close(): Promise<void> {
    // Release time first, because stopped time would block the close.
    this.#held?.release();
    for (const client of this.#clients) client.disconnect();
    await this.#gateway?.close();
    this.#gateway = null;
    this.#hangUp();
    await this.#store.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
