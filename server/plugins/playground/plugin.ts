import type { ServerResponse } from 'node:http';
import type { UserContext } from '../../../shared/contract.js';
import { GatewayError } from '../../../shared/errors.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin } from '../plugin.js';
import { ASSETS, KILL, type PageFile, readPage, withSettings } from './page-files.js';

/** Options of `playgroundPlugin`. */
export interface PlaygroundOptions {
  /** Where the page is, below the gateway's mount; '/' is the mount itself. @default '/playground' */
  readonly path?: string;
  /** Leaves out of the page whatever sends, answers or calls. What a caller may do is the gateway's to say, with and without it. @default false */
  readonly readOnly?: boolean;
  /**
   * Adds a button that ends the server's process as a crash would: called for who pressed it, with the gateway's own authentication. It
   * throws where that user may not. Only for hosts that are started again by themselves; never for production.
   * @default none
   */
  readonly kill?: (user: UserContext) => MaybePromise<void>;
}

/** Nothing but the page's own files, no inline script or style, no eval, no other host, and in no other page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves a page to try the gateway with: chat, sessions, the events of each, cuts of the network, methods. The page holds no data and
 * needs no credentials; what it asks of the gateway needs those of any other client. Its token may come in the fragment of its URL,
 * `#token=…`, which browsers send nowhere.
 *
 * @throws GatewayError `INVALID_REQUEST` for an option that is wrong; from `gateway.use` where `extraRoutes` is false
 *
 * @example
 * ```ts
 * gateway.use(playgroundPlugin({ path: '/' }));
 * ```
 */
export function playgroundPlugin(options: PlaygroundOptions = {}): GatewayPlugin {
  const { path = '/playground', readOnly = false, kill } = options;
  if (typeof path !== 'string' || !/^(?:\/|(?:\/[A-Za-z0-9_.-]+)+)$/.test(path))
    throw wrong('path', "must be like '/playground', or '/'");
  if (typeof readOnly !== 'boolean') throw wrong('readOnly', 'must be true or false');
  if (kill !== undefined && typeof kill !== 'function') throw wrong('kill', 'must be a function');
  const below = path === '/' ? '' : path;
  let files: ReadonlyMap<string, PageFile> | undefined;
  let extraRoutes = '';

  const serve = ({ request, response, path: asked }: PluginRequest): void => {
    files ??= withSettings(readPage(), {
      readOnly,
      canKill: kill !== undefined && !readOnly,
      extraRoutes,
      depth: below.split('/').length - 1,
    });
    // The page finds its files and the gateway from where it is, whatever a proxy has put before: so it has to be a folder.
    if (asked === below && below !== '')
      return redirect(response, `./${below.slice(below.lastIndexOf('/') + 1)}/`);
    const mount = mountOf(request);
    if (asked === '/' && mount !== undefined) return redirect(response, mount);
    const file = files.get(asked.slice(below.length + 1) || 'index.html');
    if (!file) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    send(request, response, file);
  };
  return {
    name: 'playground',
    setup(context) {
      if (context.extraRoutes === false)
        throw fault('playgroundPlugin needs the routes that `extraRoutes: false` drops');
      extraRoutes = context.extraRoutes;
      const methods = ['GET', 'HEAD'];
      context.route(path, serve, { methods, needsStore: false });
      if (below === '') context.route(`/${ASSETS}`, serve, { methods, needsStore: false });
      if (kill === undefined || readOnly) return;
      const end = async ({ response, authenticate }: PluginRequest) => {
        const { user } = await authenticate();
        await kill(user);
        response.writeHead(202).end();
      };
      context.route(`${below}/${KILL}`, end, { methods: ['POST'], needsStore: false });
    },
  };
}

/** The last part of the mount where the browser asked for it without a slash; hosts that strip it leave the whole in `originalUrl`. */
function mountOf(request: PluginRequest['request']): string | undefined {
  const { originalUrl, url = '/' } = request as PluginRequest['request'] & { originalUrl?: string };
  const asked = new URL(originalUrl ?? url, 'http://mount').pathname;
  return asked.endsWith('/') ? undefined : `./${asked.slice(asked.lastIndexOf('/') + 1)}/`;
}

/** Relative, as nobody here knows the whole path; browsers keep the fragment. */
function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { Location: location, 'Cache-Control': 'no-cache' }).end();
}

function send(request: PluginRequest['request'], response: ServerResponse, file: PageFile): void {
  const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = zipped ? file.gzip : file.bytes;
  response.writeHead(200, {
    'Content-Type': file.type,
    'Content-Length': body.length,
    ...(zipped && { 'Content-Encoding': 'gzip' }),
    Vary: 'Accept-Encoding',
    'Cache-Control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}

function wrong(option: string, message: string): GatewayError {
  const path = `playgroundPlugin.${option}`;
  return fault(`${path} ${message}`, [{ path, message }]);
}

function fault(message: string, details?: readonly { path: string; message: string }[]): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message, ...(details && { details }) });
}
