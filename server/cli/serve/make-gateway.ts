import { pathToFileURL } from 'node:url';
import type { Gateway, GatewayConfig, GatewayPlugin, Logger } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { resolveFrom } from '../../runtime/resolve-from.js';
import { isSharedPlace, storeAt } from '../../runtime/store-at.js';
import { type Exported, findExported } from './exported.js';
import { loadFile } from './load-file.js';

/** What a gateway is given beside what its file says. */
export interface ServeOptions {
  /** In place of the file's. */
  readonly host?: string | undefined;
  /** In place of the file's. */
  readonly port?: number | undefined;
  /** Where sessions are kept, if the file has no `store`: as `storeAt` takes it. */
  readonly db: string;
  /** The folder of uploaded files, if the file has no `files`. @default beside the store */
  readonly files?: string | undefined;
  /** What callers have to show, if the file has no `auth`. */
  readonly token?: string | undefined;
  /** Milliseconds that runs are given to finish, if the file does not say. @default the gateway's */
  readonly drainMs?: number | undefined;
  /** Whether it is one of several that share a port and a store. @default false */
  readonly isWorker?: boolean;
  readonly plugins?: readonly GatewayPlugin[];
  /** Where it logs, if the file has no `logger`. */
  readonly logger: Logger;
}

/** A gateway that is about to be started. */
export interface Served {
  readonly gateway: Gateway<any, any, any, any>;
  /** Whether the file's own server serves it. */
  readonly isEmbedded: boolean;
  /** Whether it takes the token of the options. */
  readonly usesToken: boolean;
  /** Where its sessions are kept, unless the file says. */
  readonly db?: string;
}

const FILES_ARE_HERE_ALONE =
  'gateways share the sessions, and not the files: uploads are kept in the memory of this process; name a folder that all of them have with --files or GATEWAY_FILES';

/**
 * Loads a file and makes a gateway of what it exports; a gateway that it exports is taken as it is.
 *
 * @throws GatewayError what is wrong with the file or its configuration
 */
export async function makeGateway(file: string, options: ServeOptions): Promise<Served> {
  const exported = findExported(await loadFile(file), file);
  if (options.isWorker) checkShared(exported, file);
  if (exported.kind !== 'config')
    return { gateway: exported.gateway, isEmbedded: exported.kind === 'embedded', usesToken: false };
  const { host, port, db, token, drainMs, plugins = [] } = options;
  const { config } = exported;
  if (config.auth === undefined && token === undefined) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `${file} has no \`auth\`: write it, or set GATEWAY_TOKEN; \`agent-session-gateway token\` makes one`,
    });
  }
  const { createGateway, directoryFiles } = await packageOf(file);
  const usesToken = config.auth === undefined;
  const logger = config.logger ?? options.logger;
  const files = config.files ?? (options.files && directoryFiles({ path: options.files }));
  if (config.store === undefined && isSharedPlace(db) && !files) logger.warn({ file }, FILES_ARE_HERE_ALONE);
  const gateway = createGateway({
    ...config,
    host: host ?? config.host,
    port: port ?? config.port,
    ...(usesToken && { auth: { type: 'token', token } }),
    store: config.store ?? (await storeAt(db)),
    ...(files && { files }),
    logger,
    limits: { ...(drainMs !== undefined && { drainMs }), ...config.limits },
  } as GatewayConfig<any, any, any>);
  for (const plugin of plugins) gateway.use(plugin);
  return { gateway, isEmbedded: false, usesToken, ...(config.store === undefined && { db }) };
}

/** @throws GatewayError `INVALID_REQUEST` for what each worker would have of its own */
function checkShared(exported: Exported, file: string): void {
  const isShared =
    exported.kind === 'config'
      ? !exported.config.store || exported.config.store.shared
      : exported.gateway.stats().store.shared;
  if (isShared) return;
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${file} has a \`store\` that one process alone can use: leave it out of a configuration, give a gateway a \`socketStore\`, and name the database with --db`,
  });
}

/** The package as the file has it: what a handler asks `getContext()` has to be the gateway's own. */
async function packageOf(file: string): Promise<typeof import('agent-session-gateway')> {
  const path = resolveFrom(file, 'agent-session-gateway');
  return path === undefined ? import('agent-session-gateway') : import(pathToFileURL(path).href);
}
