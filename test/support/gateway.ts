import { createGateway, type Gateway, type GatewayConfig, type Logger } from '../../server/index.js';
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

/** Starts a real gateway on a free port of loopback; it is closed after the test. */
export async function startGateway(config: GatewayConfig<any, any, any>): Promise<TestGateway> {
  const log = new TestLogger();
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
  return { gateway, url: url ?? '', log };
}

/** Headers of an authorized JSON request. */
export const jsonHeaders = (token: string = TOKEN): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

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
