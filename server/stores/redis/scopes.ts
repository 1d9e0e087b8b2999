import { homeOf } from '../records.js';
import type { Keys } from './keys.js';
import type { Link } from './link.js';
import { nodesOf } from './vacuum.js';

/** Keys that a step of a scan looks at. */
const STEP = '1000';

/** All scopes of which anything is kept, by their lists of sessions and their records. */
export async function scopesIn(link: Link, keys: Keys, isCluster: boolean): Promise<readonly string[]> {
  const { prefix } = keys;
  const scopes = new Set<string>();
  const list = `${prefix}:q:`;
  for (const node of await nodesOf(link, keys, isCluster))
    for (let cursor = '0'; ; ) {
      const match = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}:*`;
      const answer = await link.send(node, ['SCAN', cursor, 'MATCH', match, 'COUNT', STEP]);
      const [next, found] = answer as [string, string[]];
      for (const key of found) {
        const [, home] = /^:\{\d+\}:a:(.+)$/s.exec(key.slice(prefix.length)) ?? [];
        if (key.startsWith(list)) scopes.add(JSON.parse(key.slice(list.length)) as string);
        else if (home !== undefined) scopes.add(homeOf(home).scope);
      }
      cursor = next;
      if (cursor === '0') break;
    }
  return [...scopes];
}
