import { GatewayError } from '../../shared/errors.js';
import { memoryStore } from '../stores/memory.js';
import type { RedisDurability } from '../stores/redis/options.js';
import type { Store } from '../stores/store.js';

export { filesOf } from '../stores/sqlite/files-beside.js';

/** Loads the stores that several gateways share, by scheme of their URL. */
const SHARED: Readonly<Record<string, (url: string) => Promise<Store>>> = {
  redis: redisAt,
  rediss: redisAt,
  postgres: postgresAt,
  postgresql: postgresAt,
};

/** Two letters at least: a single one is a drive of Windows. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/**
 * Whether gateways can share the store at a place.
 *
 * @param place A file, `memory`, or the URL of a shared store.
 * @throws GatewayError `INVALID_REQUEST` for any other URL
 */
export function isSharedPlace(place: string): boolean {
  return sharedAt(place) !== undefined;
}

/**
 * The store at a place: an SQLite file, `memory`, or a URL (`redis:`, `rediss:` with `?durability=`, `postgres:`, `postgresql:`).
 *
 * @throws GatewayError `INVALID_REQUEST` for any other URL
 */
export async function storeAt(place: string): Promise<Store> {
  if (place === 'memory') return memoryStore();
  const shared = sharedAt(place);
  if (shared) return shared(place);
  const { sqliteStore } = await import('../stores/sqlite/index.js');
  return sqliteStore({ path: place });
}

/** A place for display: a URL without its password, and without every part that could contain one. */
export function shownPlace(place: string): string {
  return place.replace(/^([a-z][a-z0-9+.-]+:\/\/)(?:[^/?#]*@)?([^?#]*).*$/is, '$1$2');
}

/** A sentence that tells the person who started a gateway where sessions are kept. */
export function toldPlace(place: string): string {
  const kept = `Sessions are kept in ${shownPlace(place)}`;
  return isSharedPlace(place) ? `${kept}, which other gateways may share.` : `${kept}.`;
}

function sharedAt(place: string): ((url: string) => Promise<Store>) | undefined {
  const scheme = SCHEME.exec(place)?.[1]?.toLowerCase();
  if (scheme === undefined) return undefined;
  const shared = SHARED[scheme];
  if (shared) return shared;
  const known = Object.keys(SHARED).map((name) => `${name}://`);
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `Sessions cannot be kept at ${scheme}://: name a file, \`memory\`, or a URL that begins with ${known.join(', ')}`,
  });
}

async function redisAt(url: string): Promise<Store> {
  const { redisStore } = await import('../stores/redis/index.js');
  const durability = /[?&]durability=([^&#]*)/.exec(url)?.[1];
  // The store refuses what is no durability.
  return redisStore({ url, ...(durability !== undefined && { durability: durability as RedisDurability }) });
}

async function postgresAt(url: string): Promise<Store> {
  const { postgresStore } = await import('../stores/postgres/index.js');
  return postgresStore({ url });
}
