import type { GatewayError } from '../../../shared/errors.js';
import { storeFailed } from './faults.js';

/** The database of a PostgreSQL store, and how gateways share it. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`. The database must be in UTF8. */
  readonly url: string;
  /** Address for notifications, past a pooler that shares connections, which loses them. @default url */
  readonly listenUrl?: string;
  /** The schema of all tables. It is created if missing. @default 'agent_session_gateway' */
  readonly schema?: string;
  /** Milliseconds of silence after which a gateway counts as dead. @default 10000 */
  readonly leaseMs?: number;
  /** Accepts a server with `fsync` or `synchronous_commit` off, which loses acknowledged data in a crash. @default false */
  readonly allowEphemeral?: boolean;
  /** Options of the package `pg` for its pool: `max` (10), `ssl`, `application_name`, … */
  readonly pool?: Readonly<Record<string, unknown>>;
}

/** Options, checked and with their defaults. */
export interface PostgresSettings extends PostgresStoreOptions {
  readonly schema: string;
  readonly leaseMs: number;
  readonly allowEphemeral: boolean;
}

const SHORTEST_LEASE_MS = 100;
/** PostgreSQL truncates longer names. */
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
