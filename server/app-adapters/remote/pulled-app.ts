import type { App } from '../../apps/define-app.js';
import type { ToolSet } from '../../apps/tool.js';
import { boundsOf, type RemoteOptions, secretsOf } from './options.js';
import { carriedApp } from './remote-app.js';
import { WorkQueue } from './work-queue.js';

/** The work of an app whose processes ask for it. */
export interface PulledWork {
  readonly queue: WorkQueue;
  readonly secrets: readonly string[];
}

const works = new WeakMap<object, PulledWork>();

/**
 * An app whose processes cannot be called, such as those behind a firewall: they ask the gateway for slices. It needs `workPlugin`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const gpu = pulledApp({ secret: process.env.APP_SECRET! });
 * const gateway = createGateway({ app: gpu }).use(workPlugin({ gpu }));
 * ```
 */
export function pulledApp<const Tools extends ToolSet = Readonly<Record<never, never>>>(
  options: RemoteOptions<Tools>,
): App<Tools> {
  const queue = new WorkQueue(boundsOf(options as RemoteOptions));
  const app = carriedApp(options, queue);
  works.set(app, { queue, secrets: secretsOf(options) });
  return app;
}

/** The work of an app of `pulledApp`; undefined for any other one. */
export const workOf = (app: object): PulledWork | undefined => works.get(app);
