import { GatewayError } from '../../shared/errors.js';
import type { GatewayConfig } from '../config/config.js';
import type { Limits } from '../config/limits.js';
import { type ParsedConfig, parseConfig } from '../config/parse.js';
import { FEATURE_CONFIG } from '../features/features.js';
import type { Gateway } from './gateway.js';
import { partsOf } from './parts.js';

/** The options that a running gateway takes in. */
export type ReloadedConfig = Pick<GatewayConfig, 'auth' | 'limits' | 'origins'>;

/** Limits that are looked up each time. All others are built into something that lasts. */
const LIVE: ReadonlySet<string> = new Set<keyof Limits>([
  ...(['sendsPerSecond', 'subscribesPerSecond', 'invokesPerSecond', 'readsPerSecond'] as const),
  ...(['uploadsPerSecond', 'connectionsPerUser', 'streamsPerUser', 'sessionsPerUser', 'shared'] as const),
  ...(['sessionBytes', 'userBytes', 'userFileBytes', 'runMs', 'waitMs', 'streamMs'] as const),
  ...(['lameDuckMs', 'drainMs'] as const),
]);

/**
 * Has a running gateway go on with other keys, origins and limits, while everything that is open stays open. Callers whose credentials are no longer
 * good lose what they have open within `limits.revalidateMs`. An option that is left out stays as it is; `limits` replaces all limits.
 *
 * @returns the options that differ and take a restart, such as `limits.storeMs`. They stay as they are
 * @throws GatewayError `INVALID_REQUEST` naming each wrong field, also for another `auth.type`; then nothing has changed
 */
export function reloadGateway(
  gateway: Gateway<any, any, any, any>,
  given: ReloadedConfig,
): readonly string[] {
  const parts = partsOf(gateway);
  const { config } = parts;
  const next = parsedBeside(config, given);
  if (next.auth.type !== config.auth.type || isCookieless(next) !== isCookieless(config)) {
    const path = next.auth.type === config.auth.type ? 'auth.cookies' : 'auth.type';
    const message = 'stays as it is while the gateway runs: restart it';
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `${path}: ${message}`,
      details: [{ path, message }],
    });
  }
  const limits = { ...config.limits };
  const waiting: string[] = [];
  if (given.limits)
    for (const name of Object.keys(limits) as (keyof Limits)[]) {
      if (isSame(next.limits[name], limits[name])) continue;
      if (LIVE.has(name)) Object.assign(limits, { [name]: next.limits[name] });
      else waiting.push(`limits.${name}`);
    }
  parts.goOnWith({
    auth: given.auth ? next.auth : config.auth,
    origins: given.origins ? next.origins : config.origins,
    limits,
  });
  const changed = Object.keys(given).sort().join(',');
  parts.audit.note({ act: 'reload', door: 'host', by: null, outcome: 'ok', about: { options: changed } });
  return waiting;
}

/** The given options, checked as at a start. */
function parsedBeside(config: ParsedConfig, { auth = config.auth, limits, origins }: ReloadedConfig) {
  const { host, embedded, apps, defaultApp } = config;
  return parseConfig({ host, embedded, apps, defaultApp, auth, limits, origins }, FEATURE_CONFIG);
}

const isCookieless = ({ auth }: ParsedConfig): boolean => auth.type === 'custom' && auth.cookies === false;

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
