import { pathToFileURL } from 'node:url';
import type { Gateway, GatewayConfig, GatewayPlugin, Logger, MonitorOptions } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { metricsPlugin } from 'agent-session-gateway/plugins/metrics';
import { resolveFrom } from '../../runtime/resolve-from.js';
import { readSecretFiles } from '../../runtime/secret-files.js';
import { isSharedPlace, storeAt } from '../../runtime/store-at.js';
import { type Exported, findExported } from './exported.js';
import { loadFile } from './load-file.js';

/** Options of a gateway besides its file. */
export interface ServeOptions {
  /** Replaces the file's value. */
  readonly host?: string | undefined;
  /** Replaces the file's value. */
  readonly port?: number | undefined;
  /** A place for `storeAt`, used if the file has no `store`. */
  readonly db: string;
  /** The folder of uploaded files, if the file has no `files`. @default beside the store */
  readonly files?: string | undefined;
  /** The token that callers need, if the file has no `auth`. */
  readonly token?: string | undefined;
  /** Milliseconds for runs to finish, unless the file sets them. @default the gateway's */
  readonly drainMs?: number | undefined;
  /** Whether this gateway is one of several that share a port and a store. @default false */
  readonly isWorker?: boolean;
  /** The monitoring port, if the file has none. @default none */
  readonly monitor?: ServedMonitor | undefined;
  readonly plugins?: readonly GatewayPlugin[];
  /** Whether its callers may read the sessions of all users and say outputs of tools, unless the file says it. @default false */
  readonly isDevelopment?: boolean;
  /** The logger, if the file has no `logger`. */
  readonly logger: Logger;
}

/** The monitoring port of a served gateway. */
export interface ServedMonitor extends Omit<MonitorOptions, 'port'> {
  /** @default the public port plus 10,000; a free one where that is a free one */
  readonly port?: number;
  /** Added to the port: the number of the worker, as each has a port of its own. */
  readonly worker?: number;
}

const MONITOR_ABOVE = 10_000;

/** The monitoring port beside a public port. */
function monitorOf({ port, worker = 0, ...options }: ServedMonitor, publicPort: number): MonitorOptions {
  const above = publicPort === 0 || publicPort + MONITOR_ABOVE > 65_535 ? 0 : publicPort + MONITOR_ABOVE;
  const first = port ?? above;
  return { ...options, port: first === 0 ? 0 : first + worker };
}

/** A gateway that is ready to start. */
export interface Served {
  readonly gateway: Gateway<any, any, any, any>;
  /** Whether the file's own server serves the gateway. */
  readonly isEmbedded: boolean;
  /** Whether the gateway accepts the token of the options. */
  readonly usesToken: boolean;
  /** The place of the gateway's sessions, unless the file has a `store`. */
  readonly db?: string;
  /**
   * Loads the file again, and has the gateway go on with its `auth`, `origins` and `limits`.
   *
   * @returns the options that take a restart
   * @throws GatewayError the problem; then nothing has changed
   */
  reload(): Promise<readonly string[]>;
}

const DEFAULT_PORT = 18_789;

const FILES_ARE_HERE_ALONE =
  'gateways share the sessions, and not the files: uploads are kept in the memory of this process; name a folder that all of them have with --files or GATEWAY_FILES';

/**
 * Loads a file and makes a gateway from its exports. An exported gateway is used as it is.
 *
 * @throws GatewayError the problem of the file or its configuration
 */
export async function makeGateway(file: string, options: ServeOptions): Promise<Served> {
  const exported = findExported(await loadFile(file), file);
  if (options.isWorker) checkShared(exported, file);
  if (exported.kind !== 'config')
    return {
      ...{ gateway: exported.gateway, isEmbedded: exported.kind === 'embedded', usesToken: false },
      reload: () => Promise.reject(refused(`${file} exports a gateway: have it call reloadGateway`)),
    };
  const { host, port, db, token, drainMs, monitor, plugins = [], isDevelopment } = options;
  const { config } = exported;
  if (config.auth === undefined && token === undefined) {
    throw refused(
      `${file} has no \`auth\`: write it, or set GATEWAY_TOKEN; \`agent-session-gateway token\` makes one`,
    );
  }
  const { createGateway, directoryFiles, reloadGateway } = await packageOf(file);
  const usesToken = config.auth === undefined;
  const logger = config.logger ?? options.logger;
  const files = config.files ?? (options.files && directoryFiles({ path: options.files }));
  if (config.store === undefined && isSharedPlace(db) && !files) logger.warn({ file }, FILES_ARE_HERE_ALONE);
  const gateway = createGateway({
    ...config,
    host: host ?? config.host,
    port: port ?? config.port,
    ...(isDevelopment && {
      oversight: config.oversight ?? (() => true),
      clientMessages: { toolOutputs: true, ...config.clientMessages },
    }),
    ...(usesToken && { auth: { type: 'token', token } }),
    store: config.store ?? (await storeAt(db)),
    ...(files && { files }),
    logger,
    ...(monitor && { monitor: config.monitor ?? monitorOf(monitor, port ?? config.port ?? DEFAULT_PORT) }),
    limits: { ...(drainMs !== undefined && { drainMs }), ...config.limits },
  } as GatewayConfig<any, any, any>);
  for (const plugin of plugins) gateway.use(plugin);
  // Its page is on the monitoring port alone.
  if (monitor && resolveFrom(file, 'prom-client') !== undefined) gateway.use(metricsPlugin());
  let loaded = 0;
  return {
    ...{ gateway, isEmbedded: false, usesToken, ...(config.store === undefined && { db }) },
    async reload() {
      readSecretFiles(process.env);
      loaded += 1;
      const again = findExported(await loadFile(file, loaded), file);
      if (again.kind !== 'config') throw refused(`${file} exports a gateway now: restart it`);
      const { auth, origins = [], limits } = again.config;
      return reloadGateway(gateway, {
        auth: auth ?? { type: 'token', token: process.env.GATEWAY_TOKEN ?? '' },
        origins,
        limits: { ...(drainMs !== undefined && { drainMs }), ...limits },
      });
    },
  };
}

/** Checks that workers can share the file's store. @throws GatewayError `INVALID_REQUEST` if each worker would have its own */
function checkShared(exported: Exported, file: string): void {
  const isShared =
    exported.kind === 'config'
      ? !exported.config.store || exported.config.store.shared
      : exported.gateway.stats().store.shared;
  if (isShared) return;
  throw refused(
    `${file} has a \`store\` that one process alone can use: leave it out of a configuration, and name a Redis or PostgreSQL with --db`,
  );
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}

/** The file's own copy of the package, because `getContext()` in its handlers must belong to the gateway's copy. */
async function packageOf(file: string): Promise<typeof import('agent-session-gateway')> {
  const path = resolveFrom(file, 'agent-session-gateway');
  return path === undefined ? import('agent-session-gateway') : import(pathToFileURL(path).href);
}
