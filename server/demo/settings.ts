import { randomBytes } from 'node:crypto';
import { isLoopback } from '../auth/address.js';
import { checkSecrets } from '../auth/secrets.js';
import { GatewayError } from '../index.js';
import type { DemoTokens } from './access.js';

/** An OpenAI-compatible endpoint. */
export interface DemoEndpoint {
  readonly baseURL: string;
  readonly model: string;
  /** Local servers often need none. */
  readonly apiKey?: string;
}

/** The settings of the demo, from the environment. */
export interface DemoSettings {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly tokens: DemoTokens;
  /** Whether the tokens are new at each start. */
  readonly madeUp: boolean;
  readonly endpoint: DemoEndpoint | undefined;
  /** Place of the sessions, a file or a URL; undefined keeps them in memory. */
  readonly database: string | undefined;
  /** Folder of uploaded files; undefined keeps them beside the sessions. */
  readonly files: string | undefined;
  /** The lowest level of log lines. */
  readonly logLevel: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * Reads `HOST`, `PORT`, `GATEWAY_TOKEN`, `GATEWAY_DB`, `GATEWAY_FILES`, `LOG_LEVEL`, `OPENAI_BASE_URL`, `OPENAI_MODEL` and `OPENAI_API_KEY`. Empty ones count as unset; tokens that
 * are not given are random.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the variable
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): DemoSettings {
  const host = env.HOST || undefined;
  const admin = env.GATEWAY_TOKEN || newToken();
  if (!/^[\x21-\x7e]+$/.test(admin)) throw invalid('GATEWAY_TOKEN', 'must be printable ASCII without spaces');
  const exposure = { loopback: host === undefined || isLoopback(host), embedded: false };
  return {
    host,
    port: readPort(env.PORT || undefined),
    tokens: { admin, guest: newToken() },
    madeUp: !env.GATEWAY_TOKEN,
    endpoint: readEndpoint(env),
    database: env.GATEWAY_DB === 'memory' ? undefined : env.GATEWAY_DB || 'data/gateway.db',
    files: env.GATEWAY_FILES || undefined,
    logLevel: env.LOG_LEVEL,
    warnings: checkSecrets({ type: 'token', token: admin }, exposure).map(
      (warning) => `GATEWAY_TOKEN, used as ${warning}`,
    ),
  };
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw invalid('PORT', 'must be a number from 0 to 65535');
}

function readEndpoint(env: Readonly<Record<string, string | undefined>>): DemoEndpoint | undefined {
  const { OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model, OPENAI_API_KEY: apiKey } = env;
  if (!baseURL) return undefined;
  if (!model) throw invalid('OPENAI_MODEL', 'is needed with OPENAI_BASE_URL');
  return { baseURL, model, ...(apiKey && { apiKey }) };
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function invalid(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${path} ${message}`,
    details: [{ path, message }],
  });
}
