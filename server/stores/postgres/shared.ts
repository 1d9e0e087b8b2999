import type { SharedStore } from '../shared-store.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import type { Node } from './node.js';
import { refOf } from './rows.js';
import type { SessionIds } from './sessions.js';

interface PostgresSharedParts {
  readonly database: PostgresDatabase;
  readonly sessions: SessionIds;
  readonly node: Node;
}

/** The part of the store that several gateways share beside their sessions. */
export function sharedPart(leaseMs: number, parts: () => PostgresSharedParts): SharedStore {
  return {
    leaseMs,
    get skewMs() {
      return parts().node.clock.skewMs;
    },
    join: async (member) => parts().node.join(member),
    async held({ limit, after, holder }) {
      const { database, sessions } = parts();
      const query = `SELECT s.scope, s.app, s.name, g.holder FROM $S.log g JOIN $S.session s ON s.id = g.session
        WHERE g.holder <> '' AND g.closed IS NULL AND ($1::text IS NULL OR g.holder = $1)
          AND g.session > coalesce((SELECT p.id FROM $S.session p WHERE p.key = $2), 0)
        ORDER BY g.session LIMIT $3`;
      const by = holder === undefined ? null : toColumn(holder);
      const rows = await database.ask(query, by, after ? sessions.keyOf(after) : null, limit);
      return rows.map((row) => ({ ...refOf(row), holder: fromColumn(row.holder) }));
    },
  };
}
