import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ExtraRoutes } from '../../shared/calls.js';
import type { FeatureConfig } from '../../shared/features.js';
import type { MethodTree } from '../../shared/method.js';
import type { Application, OnDisconnect } from '../apps/application.js';
import type { Guard } from '../apps/guard.js';
import type { TrustProxy } from '../auth/client-address.js';
import type { SessionScope } from '../auth/scope.js';
import type { AuthConfig } from '../auth/types.js';
import type { FileStore } from '../stores/files/file-store.js';
import type { Store } from '../stores/store.js';
import type { AppAccess, ClientMessages, FairKey, Oversight, SessionAccess, ShareLinks } from './access.js';
import type { Limits } from './limits.js';
import type { MonitorOptions } from './monitor-options.js';
import type { Origins } from './origins.js';

/** Schemas of payloads, by channel or event name. */
export type PayloadSchemas = Readonly<Record<string, StandardSchemaV1>>;

/** Receives the gateway's log lines; pino, console and the like fit. `err` in the details is the error. */
export interface Logger {
  /** Each call and connection. Only called if `isLevelEnabled('debug')` is true. */
  debug?(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Start, drain and stop. */
  info?(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Refusals, with their reasons. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Failures. */
  error(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Whether lines of a level are written. */
  isLevelEnabled?(level: string): boolean;
}

/** Limits in a host's configuration. Omitted ones have their defaults. */
export type LimitsInput = {
  readonly [Name in keyof Limits]?:
    | (Limits[Name] extends number ? number : Partial<Limits[Name]>)
    | undefined;
};

/** Configuration of a gateway. Give either `app`, or `apps` and `defaultApp`. */
export interface GatewayConfig<
  Methods extends MethodTree = MethodTree,
  Channels extends PayloadSchemas = PayloadSchemas,
  Events extends PayloadSchemas = PayloadSchemas,
  Single extends Application = Application,
  Many extends Readonly<Record<string, Application>> = Readonly<Record<string, Application>>,
> extends FeatureConfig {
  /** Standalone mode: the port to listen on, 0 for any free one. @default 18789 */
  readonly port?: number | undefined;
  /** Standalone mode: the address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /**
   * Standalone mode: the path at which all routes begin, such as `/agent`, those of health and plugins too. An embedded gateway is told by
   * its host, with each request.
   *
   * @default '', the root
   */
  readonly basePath?: string | undefined;
  /** Name of this gateway in `connected` and logs. @default generated */
  readonly id?: string | undefined;
  /** The single form: the only app, registered as `default`. */
  readonly app?: Single | undefined;
  readonly apps?: Many | undefined;
  /** Name of the app for keys without a colon. */
  readonly defaultApp?: string | undefined;
  /** Stands between all apps and the log, before the guards of their own: what it has not let through is delivered to nobody. */
  readonly guard?: Guard | undefined;
  /** Opens no port: the host passes requests to `handleRequest`. @default false */
  readonly embedded?: boolean | undefined;
  /** Path of a Unix socket to listen on as well. */
  readonly socketPath?: string | undefined;
  /** @default { type: 'none' } on loopback and embedded; required on other hosts */
  readonly auth?: AuthConfig | undefined;
  readonly methods?: Methods | undefined;
  /** Schemas of channel payloads. Channels that are not listed take anything. */
  readonly channels?: Channels | undefined;
  /** Schemas of custom events' payloads. Events that are not listed take anything. */
  readonly events?: Events | undefined;
  /** The owner of the sessions that a key names. @default 'user' */
  readonly sessionScope?: SessionScope | undefined;
  /** Narrows access within a scope. A refused session seems not to exist. */
  readonly sessionAccess?: SessionAccess | undefined;
  /**
   * Lets some users read the sessions of all: list them, follow them, read their history. They change nothing. `sessionAccess` is not asked then,
   * `appAccess` is. A function that throws, or does not answer in 5 s, refuses.
   *
   * @default nobody
   */
  readonly oversight?: Oversight | undefined;
  /**
   * Names the tenant of a user, for `limits.tenant` and for turns: two users with one text share them. A function that throws, or returns no
   * text, leaves the default.
   *
   * @default the user's `tenantId`; without one each user is a tenant
   */
  readonly fairKey?: FairKey | undefined;
  /** Whether sessions may be shared by links, whose bearers need no account. @default false */
  readonly shareLinks?: boolean | ShareLinks | undefined;
  /**
   * Decides who may use which app. A refused app seems not to exist, and is in no list. A function that throws, or does not answer in 5 s,
   * refuses.
   *
   * @default everybody all
   */
  readonly appAccess?: AppAccess | undefined;
  /**
   * The parts that clients' messages may contain. Does not apply to host code and plugins.
   *
   * @default messages of the role `user`, without tools or parameters
   */
  readonly clientMessages?: ClientMessages | undefined;
  /**
   * Proxies whose statements about their clients are trusted, as in Express: `true`, a number of hops, addresses or ranges. Failed attempts
   * and requests in progress then count against clients, not against the proxy.
   *
   * @default none; in Express its own `trust proxy`
   */
  readonly trustProxy?: TrustProxy | undefined;
  /** @default memoryStore() */
  readonly store?: Store | undefined;
  /** Store of uploaded files. @default beside the store: of `sqliteStore` in `<path>.files`; else in memory, 256 MiB of them */
  readonly files?: FileStore | undefined;
  readonly limits?: LimitsInput | undefined;
  /** A port of its own for health, stats, metrics and the operators' desk. @default none; `start` has one on loopback */
  readonly monitor?: MonitorOptions | undefined;
  /** The fate of a run when its session's last viewer leaves, unless its app decides. @default 'continue' */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Other sites whose pages may call: their origins as browsers write them, or a function that decides. @default [] */
  readonly origins?: Origins | undefined;
  /**
   * Host names to which the gateway answers; others are refused. On loopback they add to its own.
   *
   * @default [], which embedded and on other hosts means any
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Prefix of the routes that the specification does not have, or false to serve none of them. @default '' */
  readonly extraRoutes?: ExtraRoutes | undefined;
  /** @default warnings and errors as JSON lines on stderr */
  readonly logger?: Logger | undefined;
}
