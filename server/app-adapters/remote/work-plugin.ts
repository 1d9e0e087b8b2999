import type { IncomingMessage } from 'node:http';
import { fieldError, GatewayError } from '../../../shared/errors.js';
import type { GatewayPlugin } from '../../plugins/plugin.js';
import { isSigned } from '../../runtime/signature.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { isFault } from './fault.js';
import { type PulledWork, workOf } from './pulled-app.js';
import { WorkLink } from './work-link.js';

/** Longest time that an asker may wait, and the default, in milliseconds. */
const MAX_WAIT_MS = 60_000;
const WAIT_MS = 30_000;
/** Most that the time of a request may differ from this clock, in seconds. */
const TOLERANCE_S = 300;

/** Options of `workPlugin`. */
export interface WorkPluginOptions {
  /** The path below the gateway's mount. @default '/work' */
  readonly path?: string;
}

/**
 * Serves the slices of apps of `pulledApp` to their processes.
 *
 * @param apps The apps by the names under which their processes ask.
 * @throws GatewayError `INVALID_PARAMS` for another app, and an invalid path
 */
export function workPlugin(
  apps: Readonly<Record<string, object>>,
  { path = '/work' }: WorkPluginOptions = {},
): GatewayPlugin {
  if (!/^\/[\w/-]*\w$/.test(path)) throw fieldError('path', 'must be a path such as /work');
  const works = new Map(
    Object.entries(apps).map(([name, app]) => {
      const work = workOf(app);
      if (!work) throw fieldError(`apps.${name}`, 'must be an app of pulledApp');
      return [name, work] as const;
    }),
  );
  return {
    name: 'work',
    setup(context) {
      const link = new WorkLink(context.peers, works);
      context.route(path, (call) => serve(call, works, { link, path }), { methods: ['GET', 'POST'] });
    },
    drain() {
      for (const { queue } of works.values()) queue.close();
    },
  };
}

async function serve(
  { request, response, path: below }: PluginRequest,
  works: ReadonlyMap<string, PulledWork>,
  { link, path }: { readonly link: WorkLink; readonly path: string },
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const name = url.searchParams.get('app') ?? '';
  const work = works.get(name);
  // A stranger learns nothing of which apps there are.
  if (!work || !isFrom(request, work.secrets)) throw new GatewayError({ code: 'UNAUTHENTICATED' });
  const id = below.slice(path.length + 1);
  if (id === '' && request.method === 'GET') {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const slice = await work.queue.take(waitOf(url.searchParams.get('waitMs')), left.signal);
    if (slice === null) response.writeHead(204).end();
    else
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(slice);
    return;
  }
  if (id === '' || request.method !== 'POST') throw new GatewayError({ code: 'METHOD_NOT_ALLOWED' });
  try {
    await link.reply(name, id, request);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  } catch (error) {
    // To the process that sent it, it is a fault of a request.
    throw isFault(error) ? new GatewayError({ ...error.toJSON(), status: 400 }) : error;
  } finally {
    request.resume();
  }
}

/** @throws GatewayError `INVALID_REQUEST` */
function waitOf(text: string | null): number {
  const waitMs = text === null ? WAIT_MS : Number(text);
  if (text !== '' && waitMs >= 0 && waitMs <= MAX_WAIT_MS) return waitMs;
  throw fieldError('waitMs', `must be milliseconds, at most ${MAX_WAIT_MS}`, 'INVALID_REQUEST');
}

/** Whether a request without a signed body is from a process that has a secret of the app. */
function isFrom({ headers }: IncomingMessage, secrets: readonly string[]): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } = headers;
  if (typeof id !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/.test(String(seconds)))
    return false;
  const timestamp = Number(seconds);
  const isNow = Math.abs(Date.now() / 1000 - timestamp) <= TOLERANCE_S;
  return isNow && isSigned({ id, timestamp, body: '' }, signature, secrets);
}
