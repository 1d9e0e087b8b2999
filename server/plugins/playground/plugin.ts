import type { ServerResponse } from 'node:http';
import type { UserContext } from '../../../shared/contract.js';
import { GatewayError } from '../../../shared/errors.js';
import { acceptsCoding } from '../../accept.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin } from '../plugin.js';
import { ASSETS, KILL, type PageFile, readPage, withSettings } from './page-files.js';
import { RunTraces } from './run-traces.js';

/** A session that is to be run against the app as it is now. */
export interface ReplayRequest {
  /** Its events, as an export has them. */
  readonly record: string;
  /** The name of its app. */
  readonly app: string;
  /** Whether answers may differ, as long as the app asks for the same. */
  readonly answersMayDiffer: boolean;
}

/** The outcome of a replay: the turns that went as before, and the first that did not. */
export interface Replayed {
  readonly turns: number;
  readonly divergence?:
    | Readonly<Record<'message' | 'step' | 'text', string> & Record<'turn', number>>
    | undefined;
}

/** Options of `playgroundPlugin`. */
export interface PlaygroundOptions {
  /** The path of the page below the gateway's mount; '/' is the mount itself. @default '/playground' */
  readonly path?: string;
  /** Hides all controls of the page that send, answer or call. The gateway's own authorization applies either way. @default false */
  readonly readOnly?: boolean;
  /**
   * Adds a button that ends the server's process like a crash. It is called with the authenticated user who pressed it, and must throw if
   * that user may not. Only for hosts that restart by themselves; never for production.
   * @default none
   */
  readonly kill?: (user: UserContext) => MaybePromise<void>;
  /**
   * Shows those who may read a run its steps, calls of models, the stacks of its errors and what its app writes to the console. For development:
   * they are of this process, and kept as long as it lives.
   * @default false
   */
  readonly traces?: boolean;
  /**
   * Runs a session against the app as it is now, as `replaySession` of `agent-session-gateway/testing` does: the page gets a button for it.
   * For development.
   * @default none
   */
  readonly replay?: (replaying: ReplayRequest) => MaybePromise<Replayed>;
}

/** The path beside the page that tells of a run what no event does. */
const TRACE = '_trace';

/** The path beside the page that has a session run against the app as it is now. */
const REPLAY = '_replay';

/** Allows only the page's own files: no inline script or style, no eval, no other host, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves a page to try the gateway with: chat, sessions, the events of each, cuts of the network, methods. The page holds no data and needs
 * no credentials; its requests need those of any client. Its token may come in the fragment of its URL, `#token=…`, which browsers send
 * nowhere.
 *
 * @throws GatewayError `INVALID_REQUEST` for an invalid option; from `gateway.use` if `extraRoutes` is false
 *
 * @example
 * ```ts
 * gateway.use(playgroundPlugin({ path: '/' }));
 * ```
 */
export function playgroundPlugin(options: PlaygroundOptions = {}): GatewayPlugin {
  const { path = '/playground', readOnly = false, kill, replay, traces = false } = options;
  if (typeof path !== 'string' || !/^(?:\/|(?:\/[A-Za-z0-9_.-]+)+)$/.test(path))
    throw wrong('path', "must be like '/playground', or '/'");
  if (typeof readOnly !== 'boolean') throw wrong('readOnly', 'must be true or false');
  if (replay !== undefined && typeof replay !== 'function') throw wrong('replay', 'must be a function');
  if (typeof traces !== 'boolean') throw wrong('traces', 'must be true or false');
  if (kill !== undefined && typeof kill !== 'function') throw wrong('kill', 'must be a function');
  const below = path === '/' ? '' : path;
  let kept: RunTraces | undefined;
  let files: ReadonlyMap<string, PageFile> | undefined;
  let extraRoutes = '';

  const serve = ({ request, response, path: asked }: PluginRequest): void => {
    files ??= withSettings(readPage(), {
      readOnly,
      canKill: kill !== undefined && !readOnly,
      hasTraces: traces,
      canReplay: replay !== undefined && !readOnly,
      extraRoutes,
      depth: below.split('/').length - 1,
    });
    // The page finds its files and the gateway relative to its own URL, so its URL must end with a slash, whatever the prefix of a proxy.
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
      if (traces) {
        const found = new RunTraces(context.gatewayId);
        kept = found;
        const tell = async ({ request, response, authenticate }: PluginRequest) => {
          const { searchParams } = new URL(request.url ?? '/', 'http://mount');
          const [sessionId = '', runId = ''] = ['sessionId', 'runId'].map(
            (name) => searchParams.get(name) ?? '',
          );
          // Only for those who may read the run.
          await context
            .session(sessionId, await authenticate())
            .run(runId)
            .status();
          sendJson(response, found.of(runId));
        };
        context.route(`${below}/${TRACE}`, tell, { methods: ['GET'] });
      }
      if (replay !== undefined && !readOnly) {
        const again = async ({ response, authenticate, body }: PluginRequest) => {
          const person = await authenticate();
          const { sessionId, answersMayDiffer } = ((await body()) ?? {}) as Record<string, unknown>;
          const session = context.session(String(sessionId), person);
          const { app } = await session.status();
          let record = '';
          for await (const event of session.export('events')) record += `${JSON.stringify(event)}\n`;
          sendJson(response, await replay({ record, app, answersMayDiffer: answersMayDiffer === true }));
        };
        context.route(`${below}/${REPLAY}`, again, { methods: ['POST'] });
      }
      if (kill === undefined || readOnly) return;
      const end = async ({ response, authenticate }: PluginRequest) => {
        const { user } = await authenticate();
        await kill(user);
        response.writeHead(202).end();
      };
      context.route(`${below}/${KILL}`, end, { methods: ['POST'], needsStore: false });
    },
    start: () => kept?.start(),
    destroy: () => kept?.stop(),
  };
}

/** The last part of the mount, if the browser asked for it without a slash. Hosts that strip the mount leave it in `originalUrl`. */
function mountOf(request: PluginRequest['request']): string | undefined {
  const { originalUrl, url = '/' } = request as PluginRequest['request'] & { originalUrl?: string };
  const asked = new URL(originalUrl ?? url, 'http://mount').pathname;
  return asked.endsWith('/') ? undefined : `./${asked.slice(asked.lastIndexOf('/') + 1)}/`;
}

/** A relative location, since the gateway does not know the whole path. Browsers keep the fragment. */
function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { Location: location, 'Cache-Control': 'no-cache' }).end();
}

function sendJson(response: ServerResponse, value: unknown): void {
  const head = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  response.writeHead(200, head).end(JSON.stringify(value));
}

function send(request: PluginRequest['request'], response: ServerResponse, file: PageFile): void {
  const zipped = acceptsCoding(request.headers['accept-encoding']?.toString(), 'gzip');
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
