import type { Application, Gateway, GatewayConfig } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';

type ExportedGateway = Gateway<any, any, any, any>;
type AnyConfig = GatewayConfig<any, any, any>;

/** The exports of a file that a gateway is made of. */
export type Exported =
  | { readonly kind: 'gateway'; readonly gateway: ExportedGateway }
  /** A gateway that the file's own server serves. */
  | { readonly kind: 'embedded'; readonly gateway: ExportedGateway }
  | { readonly kind: 'config'; readonly config: AnyConfig };

const NAMES = ['default', 'gateway', 'config', 'apps', 'app'];

/**
 * Finds the export of a module that a gateway is made of: a gateway, a middleware, a configuration, an app, or apps by name.
 *
 * @throws GatewayError `INVALID_REQUEST` if the module exports none of them
 */
export function findExported(module: Readonly<Record<string, unknown>>, file: string): Exported {
  for (const name of NAMES) {
    const found = recognise(module[name]);
    if (found !== undefined) return found;
  }
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${file} exports nothing to serve: export a gateway, its configuration, an app or apps as ${NAMES.join(', ')}`,
  });
}

/** One of the apps of an export. @param name @default the default one @throws GatewayError `APP_NOT_FOUND` */
export function appOf(exported: Exported, name: string | undefined, file: string): Application {
  if (exported.kind !== 'config') return exported.gateway.app(name ?? exported.gateway.defaultApp);
  const { app, apps, defaultApp } = exported.config;
  // An app that stands alone is called `default`.
  const found = ([undefined, 'default'].includes(name) ? app : undefined) ?? apps?.[name ?? defaultApp ?? ''];
  if (found) return found;
  throw new GatewayError({ code: 'APP_NOT_FOUND', message: `${file} has no app named ${name}` });
}

function recognise(value: unknown): Exported | undefined {
  if (isGateway(value)) return { kind: 'gateway', gateway: value };
  if (typeof value === 'function' && isGateway((value as { gateway?: unknown }).gateway))
    return { kind: 'embedded', gateway: (value as unknown as { gateway: ExportedGateway }).gateway };
  if (isApp(value)) return { kind: 'config', config: { app: value } };
  if (!isObject(value)) return undefined;
  if (isApp(value.app) || areApps(value.apps)) return { kind: 'config', config: value };
  const [first] = Object.keys(value);
  return areApps(value) ? { kind: 'config', config: { apps: value, defaultApp: first } } : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

// Check abilities instead of the class, because the file may use another copy of the package.
function isGateway(value: unknown): value is ExportedGateway {
  return (
    isObject(value) &&
    ['start', 'close', 'use', 'handleRequest'].every((name) => typeof value[name] === 'function')
  );
}

function isApp(value: unknown): value is Application {
  return isObject(value) && typeof value.run === 'function';
}

function areApps(value: unknown): value is Readonly<Record<string, Application>> {
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isApp);
}
