import { createGateway, type Gateway, type GatewayConfig, type Logger } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import { Balancer } from './balancer.js';
import { SEED } from './fuzz.js';
import { MemoryHub } from './memory-hub.js';
import { closeLater } from './resources.js';
import { unnamedStore } from './stores.js';

export const TOKEN = 'a-test-token-of-more-than-32-bytes';

/** Keeps the log of the gateway under test. */
export class TestLogger implements Logger {
  readonly lines: {
    readonly level: 'warn' | 'error';
    readonly message: string;
    readonly details: unknown;
  }[] = [];
  warn(details: unknown, message: string): void {
    this.lines.push({ level: 'warn', message, details });
  }
  error(details: unknown, message: string): void {
    this.lines.push({ level: 'error', message, details });
  }
}

export interface TestGateway {
  readonly gateway: Gateway<any, any, any>;
  readonly url: string;
  readonly log: TestLogger;
}

/**
 * `TEST_GATEWAYS=3` has tests that name no store meet that many gateways on one store behind a balancer, which passes each request on to
 * any of them.
 */
const COUNT = Number(process.env.TEST_GATEWAYS ?? 1);

/** For the configuration of a test of what each gateway has by itself, such as limits. */
export const alone = (): { readonly store?: Store } => (COUNT > 1 ? { store: memoryStore() } : {});

/** For tests of every store: several gateways are one more. */
export const BALANCED: readonly (readonly [string, () => never])[] =
  COUNT > 1 ? [['several gateways', () => undefined as never]] : [];

/** Starts a real gateway on a free port of loopback; it is closed after the test. */
export async function startGateway(config: GatewayConfig<any, any, any>): Promise<TestGateway> {
  if (COUNT > 1 && !config.store) return startBalanced(config);
  const log = new TestLogger();
  const { gateway, url } = await startOne(config, log);
  return { gateway, url, log };
}

async function startOne(
  config: GatewayConfig<any, any, any>,
  log: TestLogger,
): Promise<Omit<TestGateway, 'log'>> {
  const gateway = createGateway({
    port: 0,
    auth: { type: 'token', token: TOKEN },
    logger: log,
    ...unnamedStore(),
    ...config,
    limits: { drainMs: 200, ...config.limits },
  });
  closeLater(gateway, (it) => it.close());
  const { url } = await gateway.start();
  return { gateway, url: url ?? '' };
}

async function startBalanced(config: GatewayConfig<any, any, any>): Promise<TestGateway> {
  const hub = new MemoryHub();
  const log = new TestLogger();
  const all: Omit<TestGateway, 'log'>[] = [];
  for (let i = 0; i < COUNT; i++) all.push(await startOne({ ...config, store: hub.node().store }, log));
  const { url } = await Balancer.start(
    all.map((each) => each.url),
    SEED,
  );
  const gateways = all.map(({ gateway }) => gateway);
  return { gateway: asOne(gateways), url, log };
}

/** What is done to one of them is done to all, where it is not for all anyway. */
function asOne(gateways: readonly Gateway<any, any, any>[]): Gateway<any, any, any> {
  const each: Partial<Gateway<any, any, any>> = {
    use: (plugin) => {
      for (const gateway of gateways) gateway.use(plugin);
      return gateways[0]!;
    },
    close: async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
    },
    on: (event, listener) => {
      const offs = gateways.map((gateway) => gateway.on(event, listener));
      return () => {
        for (const off of offs) off();
      };
    },
    disconnect: (of) => gateways.reduce((sum, gateway) => sum + gateway.disconnect(of), 0),
  };
  return new Proxy(gateways[0]!, {
    get(target, name) {
      if (name in each) return each[name as keyof typeof each];
      const member = target[name as keyof typeof target] as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Headers of an authorized JSON request. */
export const jsonHeaders = (token: string = TOKEN): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

/** For tests that ask more often than people do. */
export const FAST = { sendsPerSecond: 10_000, subscribesPerSecond: 10_000, readsPerSecond: 10_000 };

/** POSTs JSON and returns status, headers and the parsed body. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...jsonHeaders(), accept: 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Asks as a browser does for a page of another origin, before it sends the request itself. */
export const preflight = (url: string, origin?: string, method = 'POST'): Promise<Response> =>
  fetch(url, {
    method: 'OPTIONS',
    headers: { ...(origin && { origin }), 'access-control-request-method': method },
  });

export async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
