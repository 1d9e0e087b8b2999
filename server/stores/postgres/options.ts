import type { GatewayError } from '../../../shared/errors.js';
import { storeFailed } from './faults.js';

/** Where a PostgreSQL store keeps its sessions, and how gateways share them. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`. The database has to be in UTF8. */
  readonly url: string;
  /** Where notifications are listened for: past a pooler that hands connections around, which loses them. @default url */
  readonly listenUrl?: string;
  /** The schema that everything is kept in; it is made where there is none. @default 'agent_session_gateway' */
  readonly schema?: string;
  /** How long a gateway passes for alive that is not heard of, in milliseconds. @default 10000 */
  readonly leaseMs?: number;
  /** Opens a server with `fsync` or `synchronous_commit` off, which forgets what it acknowledged when it crashes. @default false */
  readonly allowEphemeral?: boolean;
  /** Given to the package `pg` for its pool: `max` (10), `ssl`, `application_name`, … */
  readonly pool?: Readonly<Record<string, unknown>>;
}

/** Options, checked and with their defaults. */
export interface PostgresSettings extends PostgresStoreOptions {
  readonly schema: string;
  readonly leaseMs: number;
  readonly allowEphemeral: boolean;
}

const SHORTEST_LEASE_MS = 100;
/** PostgreSQL cuts what is longer. */
const SCHEMA = /^[\w-]{1,63}$/;

/** @throws GatewayError `STORE_FAILED` */
export function settingsOf(options: PostgresStoreOptions): PostgresSettings {
  const { url, schema = 'agent_session_gateway', leaseMs = 10_000, allowEphemeral = false } = options;
  const wrong = (text: string): GatewayError =>
    storeFailed('options', `cannot be used with these options: ${text}`);
  if (!url) throw wrong('`url` says where it is');
  if (!SCHEMA.test(schema)) throw wrong('`schema` must have 1 to 63 letters, digits, `_` and `-`');
  if (!(leaseMs >= SHORTEST_LEASE_MS && leaseMs < 2 ** 31))
    throw wrong(`\`leaseMs\` must be ${SHORTEST_LEASE_MS} at least`);
  return { ...options, schema, leaseMs: Math.ceil(leaseMs), allowEphemeral };
}
