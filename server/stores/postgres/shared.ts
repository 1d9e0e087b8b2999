import type { SharedStore } from '../shared-store.js';
import type { Database } from './database.js';
import type { Node } from './node.js';
import type { Sessions } from './sessions.js';
import { packed, toColumn, unpacked } from './text.js';

interface Parts {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly node: Node;
}

/** What several gateways share beside their sessions. */
export function sharedPart(leaseMs: number, parts: () => Parts): SharedStore {
  return {
    leaseMs,
    join: async (member) => parts().node.join(member),
    put: async (name, value, { ttlMs, once = false }) =>
      parts().database.call('put_note', toColumn(name), packed(value), Math.ceil(ttlMs), once),
    async get(name) {
      const query = 'SELECT value FROM $S.note WHERE name = $1 AND until > clock_timestamp()';
      const row = await parts().database.first(query, toColumn(name));
      return row && unpacked(row.value);
    },
    async drop(name) {
      await parts().database.change('DELETE FROM $S.note WHERE name = $1', toColumn(name));
    },
    async followers(ref) {
      const { database, sessions, node } = parts();
      await node.settled();
      const query = `SELECT count(*) AS n FROM $S.follower f JOIN $S.node n ON n.id = f.node
        WHERE f.key = $1 AND n.until > clock_timestamp()`;
      return (await database.first(query, sessions.keyOf(ref)))!.n as number;
    },
  };
}
