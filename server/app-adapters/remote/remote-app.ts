import { fieldError } from '../../../shared/errors.js';
import { parseUrl } from '../../../shared/parse-url.js';
import { compactOf } from '../../apps/compaction.js';
import { type App, defineApp } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { versionsOf } from '../../apps/versions.js';
import type { SliceExchange } from './exchange.js';
import { boundsOf, type RemoteOptions, secretsOf } from './options.js';
import { Post } from './post.js';
import { RemoteRun } from './remote-run.js';

/** Options of an app that the gateway calls. */
export interface RemoteAppOptions<Tools extends ToolSet = ToolSet> extends RemoteOptions<Tools> {
  /** Address of the app: `http:` or `https:`, or `unix:` and the path of a socket. */
  readonly url: string;
}

/**
 * An app that runs elsewhere, in any language, and is called by the app protocol: each call is a slice of a run, and while the run waits nothing of the app
 * runs. It is `resumable`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const app = remoteApp({ url: 'https://agent.example.com/', secret: process.env.APP_SECRET! });
 * const gateway = createGateway({ app });
 * ```
 */
export function remoteApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: RemoteAppOptions<Tools>,
): App<Tools> {
  const { url } = options;
  const isSocket = typeof url === 'string' && /^unix:./.test(url);
  if (!isSocket && !/^https?:$/.test(parseUrl(url)?.protocol ?? ''))
    throw fieldError('url', 'must be an address with http:, https: or unix:');
  const { silenceMs } = boundsOf(options as RemoteOptions);
  return carriedApp(options, new Post({ url, secrets: secretsOf(options), silenceMs }));
}

/** An app whose slices go by a way of their own. */
export function carriedApp<const Tools extends ToolSet>(
  options: RemoteOptions<Tools>,
  exchange: SliceExchange,
): App<Tools> {
  const { description = 'Runs elsewhere', tools, name, version, onDisconnect } = options;
  const bounds = boundsOf(options as RemoteOptions);
  return defineApp<Tools>({
    description,
    resumable: true,
    ...(tools && { tools }),
    ...(onDisconnect && { onDisconnect }),
    ...versionsOf(options),
    ...compactOf(options),
    run: (turn) =>
      new RemoteRun(turn, { exchange, bounds, name: name ?? turn.session.app, version, tools: tools ?? {} })
        .answer,
  });
}
