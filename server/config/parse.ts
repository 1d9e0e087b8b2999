import * as z from 'zod';
import { cut } from '../../shared/cut.js';
import { GatewayError } from '../../shared/errors.js';
import type { FeatureConfig } from '../../shared/features.js';
import { GRANT_ROLES } from '../../shared/grants.js';
import type { MethodTree } from '../../shared/method.js';
import { pick } from '../../shared/pick.js';
import type { Application } from '../apps/application.js';
import { checkGuard } from '../apps/guard.js';
import { SINGLE_APP } from '../apps/registry.js';
import { isLoopback } from '../auth/address.js';
import type { TrustProxy } from '../auth/client-address.js';
import { authConfigSchema } from '../auth/schema.js';
import { checkSecrets } from '../auth/secrets.js';
import type { AuthConfig } from '../auth/types.js';
import { newGatewayId } from '../ids.js';
import { standardSchemaProblem } from '../schema/check-schema.js';
import { memoryFiles } from '../stores/files/memory-file-store.js';
import { memoryStore } from '../stores/memory.js';
import { withDeadlines } from '../stores/store-deadlines.js';
import type { ShareLinks } from './access.js';
import type { GatewayConfig, PayloadSchemas } from './config.js';
import { LIMIT_KINDS, type LimitKind } from './limit-kinds.js';
import { DEFAULT_LIMITS, type Limits } from './limits.js';
import { type GatewayLogger, safeLogger } from './logger.js';
import { checkMonitor, monitorSchema } from './monitor.js';
import type { MonitorOptions } from './monitor-options.js';
import type { Origins } from './origins.js';
import { readOrigin } from './origins.js';

/** A configuration with its defaults. */
export interface ParsedConfig
  extends FeatureConfig,
    Required<
      Omit<
        { readonly [Field in keyof GatewayConfig]: NonNullable<GatewayConfig[Field]> },
        | 'app'
        | 'limits'
        | 'logger'
        | keyof FeatureConfig
        | 'guard'
        | 'shareLinks'
        | 'sessionAccess'
        | 'appAccess'
        | 'oversight'
        | 'fairKey'
        | 'trustProxy'
        | 'methods'
        | 'socketPath'
        | 'monitor'
      >
    > {
  readonly limits: Limits;
  readonly logger: GatewayLogger;
  readonly methods: MethodTree;
  readonly guard: GatewayConfig['guard'];
  readonly sessionAccess: GatewayConfig['sessionAccess'];
  readonly appAccess: GatewayConfig['appAccess'];
  readonly oversight: GatewayConfig['oversight'];
  readonly fairKey: GatewayConfig['fairKey'];
  /** Null if links are not allowed. */
  readonly shareLinks: ShareLinks | null;
  readonly trustProxy: GatewayConfig['trustProxy'];
  readonly socketPath: string | undefined;
  readonly monitor: MonitorOptions | null;
  readonly warnings: readonly string[];
}

/** Schemas of the fields that features read. */
export type FeatureConfigShape = { readonly [Field in keyof FeatureConfig]?: z.ZodType };

const func = z.custom((value) => typeof value === 'function', 'must be a function');
const allowance = z.union([z.boolean(), z.array(z.string().min(1)), func], {
  error: 'must be true, false, a list of names, or a function',
});
const app = z.custom<Application>(
  (value) => typeof (value as Application | null)?.run === 'function',
  'must have a run function',
);
const schemas = z.record(
  z.string(),
  z.unknown().superRefine((value, { addIssue }) => {
    const message = standardSchemaProblem(value);
    if (message !== null) addIssue({ code: 'custom', message });
  }),
);

// Zod's own number type refuses Infinity, which turns a limit off.
const limit = ({ fits, rule }: LimitKind) =>
  z.custom<number>((value) => typeof value === 'number' && fits(value), rule).optional();
const limitsOfGroup = (group: object): z.ZodType =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(group).map(([name, kind]) => [
        name,
        'fits' in kind ? limit(kind) : limitsOfGroup(kind).optional(),
      ]),
    ),
  );

const NO_MOUNT = 'must be a path such as /agent, without a slash at its end';

const fields = z.strictObject({
  port: z.number().int().min(0).max(65_535).optional(),
  host: z.string().min(1).optional(),
  basePath: z
    .string(NO_MOUNT)
    .regex(/^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.~-]+)*$/, NO_MOUNT)
    .optional(),
  id: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : -')
    .optional(),
  app: app.optional(),
  apps: z.record(z.string(), app).optional(),
  defaultApp: z.string().optional(),
  guard: z.unknown().optional(),
  embedded: z.boolean().optional(),
  socketPath: z.string().min(1).optional(),
  auth: authConfigSchema.optional(),
  methods: z
    .custom((value) => typeof value === 'object' && value !== null, 'must be a tree of methods')
    .optional(),
  channels: schemas.optional(),
  events: schemas.optional(),
  sessionScope: z.union([z.enum(['user', 'tenant', 'global']), func]).optional(),
  sessionAccess: func.optional(),
  appAccess: func.optional(),
  oversight: func.optional(),
  fairKey: func.optional(),
  shareLinks: z
    .union([z.boolean(), z.strictObject({ upTo: z.enum(GRANT_ROLES).optional(), url: func.optional() })], {
      error: 'must be true, false, or an object',
    })
    .optional(),
  clientMessages: z
    .strictObject({
      roles: z
        .array(z.enum(['user', 'assistant', 'system', 'tool']))
        .min(1)
        .optional(),
      createdAt: z.boolean().optional(),
      tools: allowance.optional(),
      parameters: allowance.optional(),
      toolOutputs: allowance.optional(),
      import: z.union([z.boolean(), func], { error: 'must be true, false, or a function' }).optional(),
    })
    .optional(),
  trustProxy: z
    .custom<TrustProxy>((value) => {
      if (typeof value === 'boolean' || typeof value === 'string') return true;
      if (typeof value === 'number') return Number.isInteger(value) && value >= 0;
      return Array.isArray(value) && value.every((one) => typeof one === 'string');
    }, 'must be true, a number of hops, or addresses and ranges')
    .optional(),
  store: z
    .custom(
      (value) => typeof (value as { append?: unknown } | null)?.append === 'function',
      'must be a store',
    )
    .optional(),
  files: z
    .custom((value) => typeof (value as { put?: unknown } | null)?.put === 'function', 'must be a file store')
    .optional(),
  limits: limitsOfGroup(LIMIT_KINDS).optional(),
  monitor: monitorSchema.optional(),
  onDisconnect: z.enum(['continue', 'abort']).optional(),
  origins: z
    .unknown()
    .superRefine((value, { addIssue }) => {
      if (value === undefined || typeof value === 'function') return;
      if (!Array.isArray(value)) {
        addIssue({ code: 'custom', message: 'must be a list of origins, or a function' });
        return;
      }
      for (const [index, one] of value.entries()) {
        const problem = typeof one === 'string' ? readOrigin(one).problem : 'must be a text';
        if (problem === undefined) continue;
        const shown = typeof one === 'string' ? `${JSON.stringify(cut(one, 128))} ` : '';
        addIssue({ code: 'custom', path: [index], message: `${shown}${problem}` });
      }
    })
    .optional(),
  allowedHosts: z.array(z.string()).optional(),
  extraRoutes: z
    .union([z.literal(false), z.string().regex(/^(?:\/[A-Za-z0-9_.-]+)*$/, 'must be a path prefix or false')])
    .optional(),
  logger: z
    .custom((value) => typeof (value as { error?: unknown } | null)?.error === 'function', 'must be a logger')
    .optional(),
});

const schemaOf = (added: z.ZodRawShape) =>
  z
    .custom((given) => typeof given === 'object' && given !== null && !Array.isArray(given), {
      message: 'must be an object of fields, such as { app }',
      abort: true,
    })
    .pipe(fields.extend(added));

/**
 * Checks a configuration and fills in its defaults.
 *
 * @param added The fields that features read
 * @throws GatewayError `INVALID_REQUEST` naming each wrong field.
 */
export function parseConfig(
  config: GatewayConfig<any, any, any> = {},
  added: FeatureConfigShape = {},
): ParsedConfig {
  const outcome = schemaOf(added).safeParse(config);
  if (!outcome.success) {
    throw invalid(outcome.error.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })));
  }
  checkGuard(config.guard, 'guard', 'INVALID_REQUEST');
  const { host = '127.0.0.1', embedded = false, basePath = '' } = config;
  if (embedded && basePath !== '') {
    const message =
      'is for a gateway with its own port; a host says it with each request: handleRequest(request, response, { basePath })';
    throw invalid([{ path: 'basePath', message }]);
  }
  const auth: AuthConfig = config.auth ?? { type: 'none' };
  const limits = limitsOf(config.limits);
  const monitorProblem = config.monitor && checkMonitor(config.monitor);
  if (monitorProblem) throw invalid([monitorProblem]);
  const warnings = checkSecrets(config.auth, { loopback: isLoopback(host), embedded });
  return {
    port: config.port ?? 18_789,
    host,
    basePath,
    id: config.id ?? newGatewayId(),
    ...appsOf(config),
    embedded,
    guard: config.guard,
    socketPath: config.socketPath,
    auth,
    methods: config.methods ?? {},
    channels: (config.channels ?? {}) as PayloadSchemas,
    events: (config.events ?? {}) as PayloadSchemas,
    sessionScope: config.sessionScope ?? 'user',
    sessionAccess: config.sessionAccess,
    appAccess: config.appAccess,
    oversight: config.oversight,
    fairKey: config.fairKey,
    shareLinks: config.shareLinks === true ? {} : config.shareLinks || null,
    clientMessages: config.clientMessages ?? {},
    trustProxy: config.trustProxy,
    store: withDeadlines(config.store ?? memoryStore(), limits.storeMs),
    files: config.files ?? config.store?.files ?? memoryFiles(),
    limits,
    ...(pick(config, ...(Object.keys(added) as (keyof FeatureConfig)[])) satisfies FeatureConfig),
    monitor: config.monitor ?? null,
    onDisconnect: config.onDisconnect ?? 'continue',
    origins: originsOf(config.origins),
    allowedHosts: config.allowedHosts ?? [],
    extraRoutes: config.extraRoutes ?? '',
    logger: safeLogger(config.logger),
    warnings,
  };
}

function originsOf(origins: Origins = []): Origins {
  return typeof origins === 'function' ? origins : origins.map((one) => readOrigin(one).origin!);
}

function appsOf({ app: single, apps, defaultApp }: GatewayConfig): {
  apps: Readonly<Record<string, Application>>;
  defaultApp: string;
} {
  if (single) {
    if (apps || defaultApp)
      throw invalid([{ path: 'app', message: 'give either app, or apps and defaultApp' }]);
    return { apps: { [SINGLE_APP]: single }, defaultApp: SINGLE_APP };
  }
  if (!apps || Object.keys(apps).length === 0)
    throw invalid([
      { path: 'apps', message: 'at least one app is required: give app, or apps and defaultApp' },
    ]);
  if (defaultApp === undefined)
    throw invalid([{ path: 'defaultApp', message: 'name the app that a bare session key means' }]);
  return { apps, defaultApp };
}

function limitsOf(given: GatewayConfig['limits']): Limits {
  const defined = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  const merged = { ...DEFAULT_LIMITS, ...Object.fromEntries(defined) };
  const within = <Group extends object>(defaults: Group, group: object | undefined): Group => ({
    ...defaults,
    ...Object.fromEntries(Object.entries(group ?? {}).filter(([, value]) => value !== undefined)),
  });
  return {
    ...merged,
    retention: within(DEFAULT_LIMITS.retention, given?.retention),
    tenant: within(DEFAULT_LIMITS.tenant, given?.tenant),
    shared: within(sharedDefaults(merged), given?.shared),
  };
}

/** Many callers together may do at least as much as one: raising a user's limits raises those of a shared identity too. */
function sharedDefaults(ofUser: Limits): Limits['shared'] {
  const { shared } = DEFAULT_LIMITS;
  return {
    connections: Math.max(shared.connections, ofUser.connectionsPerUser),
    sessions: Math.max(shared.sessions, ofUser.sessionsPerUser),
    sendsPerSecond: Math.max(shared.sendsPerSecond, ofUser.sendsPerSecond),
    invokesPerSecond: Math.max(shared.invokesPerSecond, ofUser.invokesPerSecond),
    readsPerSecond: Math.max(shared.readsPerSecond, ofUser.readsPerSecond),
    uploadsPerSecond: Math.max(shared.uploadsPerSecond, ofUser.uploadsPerSecond),
    bytes: Math.max(shared.bytes, ofUser.userBytes),
    fileBytes: Math.max(shared.fileBytes, ofUser.userFileBytes),
  };
}

function pathOf(issue: z.core.$ZodIssue): string {
  const keys = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
  return keys.map(String).join('.');
}

function invalid(details: readonly { readonly path: string; readonly message: string }[]): GatewayError {
  const message = `Invalid configuration: ${details.map(({ path, message: said }) => (path === '' ? said : `${path}: ${said}`)).join('; ')}`;
  return new GatewayError({ code: 'INVALID_REQUEST', message, details });
}
