import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../../shared/errors.js';
import { secretsOf } from '../options.js';
import type { ServedApp } from './served-app.js';
import { type LineSink, readSlice, runSlice } from './served-slice.js';

/** Most bytes of a slice. */
const MAX_SLICE_BYTES = 64 * 1024 * 1024;

/** Options of what serves apps. */
export interface ServeAppOptions {
  /** The secret of the gateway's `remoteApp`; two while one replaces the other. */
  readonly secret: string | readonly string[];
  /** Called with what an app threw that is no `GatewayError`. @default writes it to the standard error */
  readonly onError?: (error: unknown) => void;
}

/** The apps that are served, by the names that slices have; or one for all names. */
export type ServedApps = ServedApp | Readonly<Record<string, ServedApp>>;

/**
 * A handler for Node's HTTP servers that answers slices of apps.
 *
 * @throws GatewayError `INVALID_PARAMS` for an invalid secret
 */
export function appHandler(
  apps: ServedApps,
  options: ServeAppOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const secrets = secretsOf(options);
  const { onError = toStandardError } = options;
  return (request, response) => {
    answer(request, response, { apps, secrets, onError }).catch((error: unknown) =>
      refuse(response, error, onError),
    );
  };
}

interface ServedSet {
  readonly apps: ServedApps;
  readonly secrets: readonly string[];
  onError(error: unknown): void;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { apps, secrets, onError }: ServedSet,
): Promise<void> {
  if (request.method !== 'POST') throw new GatewayError({ code: 'METHOD_NOT_ALLOWED' });
  const header = (name: string): string | undefined => request.headers[name] as string | undefined;
  const signed = {
    ...{ id: header('webhook-id'), timestamp: header('webhook-timestamp') },
    signature: header('webhook-signature'),
  };
  const slice = readSlice(await bodyOf(request), signed, secrets);
  const app = appOf(apps, slice.app);
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  await runSlice(app, slice, { sink: sinkOf(response), onError });
  response.end();
}

function appOf(apps: ServedApps, name: string): ServedApp {
  if (typeof apps.run === 'function') return apps as ServedApp;
  if (Object.hasOwn(apps, name)) return (apps as Readonly<Record<string, ServedApp>>)[name]!;
  throw new GatewayError({ code: 'APP_NOT_FOUND' });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += (piece as Buffer).length;
    if (bytes > MAX_SLICE_BYTES) throw new GatewayError({ code: 'PAYLOAD_TOO_LARGE' });
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

function sinkOf(response: ServerResponse): LineSink {
  const left = new AbortController();
  response.once('close', () => left.abort());
  let drained: Promise<void> | undefined;
  return {
    signal: left.signal,
    write: (lines) => {
      if (response.destroyed || response.write(lines)) return undefined;
      drained ??= new Promise((resolve) => {
        const over = (): void => {
          drained = undefined;
          response.off('drain', over).off('close', over);
          resolve();
        };
        response.on('drain', over).on('close', over);
      });
      return drained;
    },
  };
}

function refuse(response: ServerResponse, thrown: unknown, onError: ServedSet['onError']): void {
  if (response.destroyed) return;
  const error = isGatewayError(thrown) ? thrown : new GatewayError({ code: 'INTERNAL' });
  if (error !== thrown) onError(thrown);
  if (response.headersSent) return void response.destroy();
  const { code, message } = error;
  const body = JSON.stringify({ error: { code, message } });
  response.writeHead(error.status, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

function toStandardError(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}

/** The place at which `serveApp` listens. */
export type ServePlace =
  | { readonly port?: number /** @default '127.0.0.1' */; readonly host?: string }
  /** Path of a Unix socket. */
  | { readonly path: string };

/** Apps that are served. */
export interface AppServer {
  /** For `url` of `remoteApp`. */
  readonly url: string;
  /** Ends it with the slices under way, which are called again. */
  close(): Promise<void>;
}

/**
 * Serves apps to a gateway, from a process of their own.
 *
 * @throws GatewayError `INVALID_PARAMS` for an invalid secret; errors of `listen`
 *
 * @example
 * ```ts
 * const echo = { async *run({ text }: { text: string }) { yield `You said: ${text}`; } };
 * await serveApp({ echo }, { path: '/run/app.sock', secret: process.env.APP_SECRET! });
 * ```
 */
export async function serveApp(apps: ServedApps, options: ServeAppOptions & ServePlace): Promise<AppServer> {
  const server = createServer(appHandler(apps, options));
  const place =
    'path' in options
      ? { path: options.path }
      : { port: options.port ?? 0, host: options.host ?? '127.0.0.1' };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, resolve);
  });
  const address = server.address();
  const url =
    typeof address === 'object' && address !== null
      ? `http://${address.address.includes(':') ? `[${address.address}]` : address.address}:${address.port}/`
      : `unix:${String(address)}`;
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
