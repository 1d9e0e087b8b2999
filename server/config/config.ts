import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ExtraRoutes } from '../../shared/calls.js';
import type { MethodTree } from '../../shared/method.js';
import type { Application, OnDisconnect } from '../apps/application.js';
import type { TrustProxy } from '../auth/client-address.js';
import type { SessionScope } from '../auth/scope.js';
import type { AuthConfig } from '../auth/types.js';
import type { NotifyOptions } from '../notices/options.js';
import type { FileStore } from '../stores/files/file-store.js';
import type { Store } from '../stores/store.js';
import type { AppAccess, ClientMessages, SessionAccess, ShareLinks } from './access.js';
import type { Limits } from './limits.js';
import type { Origins } from './origins.js';

/** Schemas of payloads, by channel or event name. */
export type PayloadSchemas = Readonly<Record<string, StandardSchemaV1>>;

/** Where the gateway's own log lines go; pino, console and the like fit. `err` in the details is what failed. */
export interface Logger {
  /** Each call and connection, where `isLevelEnabled('debug')` says so: it is not told otherwise. */
  debug?(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Start, drain and stop. */
  info?(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Who was refused, and why. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  /** What failed. */
  error(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Whether lines of a level are written. */
  isLevelEnabled?(level: string): boolean;
}

/** Limits as a host writes them: what is left out has its default. */
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
> {
  /** Standalone mode: the port to listen on, 0 for any free one. @default 18789 */
  readonly port?: number | undefined;
  /** Standalone mode: the address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Names this gateway in `connected` and logs. @default generated */
  readonly id?: string | undefined;
  /** The single form: the only app, registered as `default`. */
  readonly app?: Single | undefined;
  readonly apps?: Many | undefined;
  /** Name of the app that a key without a colon means. */
  readonly defaultApp?: string | undefined;
  /** Opens no port: the host passes requests to `handleRequest`. @default false */
  readonly embedded?: boolean | undefined;
  /** Path of a Unix socket to listen on as well. */
  readonly socketPath?: string | undefined;
  /** @default { type: 'none' } on loopback and embedded; required on other hosts */
  readonly auth?: AuthConfig | undefined;
  readonly methods?: Methods | undefined;
  /** Schemas of channel payloads; channels that are not listed take anything. */
  readonly channels?: Channels | undefined;
  /** Schemas of custom events' payloads; events that are not listed take anything. */
  readonly events?: Events | undefined;
  /** Whose sessions a key names. @default 'user' */
  readonly sessionScope?: SessionScope | undefined;
  /** Narrows access within a scope. Refused sessions answer like ones that do not exist. */
  readonly sessionAccess?: SessionAccess | undefined;
  /** Whether sessions may be shared by links, whose bearers need no account. @default false */
  readonly shareLinks?: boolean | ShareLinks | undefined;
  /**
   * Who may use which app. An app that is refused answers like one that does not exist, and is on no list. A throw, or no answer in 5 s,
   * refuses. @default everybody all
   */
  readonly appAccess?: AppAccess | undefined;
  /**
   * What messages of clients may say of themselves, and bring along; host code and plugins are not bound by it.
   *
   * @default messages of the role `user`, without tools or parameters
   */
  readonly clientMessages?: ClientMessages | undefined;
  /**
   * Proxies that are believed about whom they speak for, as in Express: `true`, a number of hops, addresses or ranges. Failed attempts
   * and requests in progress then count against clients, not against the proxy. @default none; in Express its own `trust proxy`
   */
  readonly trustProxy?: TrustProxy | undefined;
  /** @default memoryStore() */
  readonly store?: Store | undefined;
  /** Where uploaded files are kept. @default beside the store: of `sqliteStore` in `<path>.files`; else in memory, 256 MiB of them */
  readonly files?: FileStore | undefined;
  readonly limits?: LimitsInput | undefined;
  /** Who is told of runs that end and questions that wait while nobody looks. @default nobody */
  readonly notify?: NotifyOptions | undefined;
  /** What happens to a run when its session's last viewer leaves, unless its app says. @default 'continue' */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Which pages of other sites may call: their origins as browsers write them, or a function that judges them. @default [] */
  readonly origins?: Origins | undefined;
  /** Host names the gateway answers to; others are refused. On loopback they add to its own. @default [], which embedded and on other hosts means any */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Prefix of the routes beyond the specification's, or false to serve none of them. @default '' */
  readonly extraRoutes?: ExtraRoutes | undefined;
  /** @default warnings and errors as JSON lines on stderr */
  readonly logger?: Logger | undefined;
}
