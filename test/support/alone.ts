import type { Cluster } from '../../server/cluster/cluster.js';
import { Errands } from '../../server/cluster/errands.js';
import { LocalHub } from '../../server/cluster/local-hub.js';

/** What a gateway has of a cluster in which it is alone. */
export function alone(): Pick<Cluster, 'shared' | 'errands'> {
  const members = {
    joined: true,
    alive: async () => false,
    others: async () => [],
    ask: async () => ({ kind: 'unheard' }) as const,
  };
  return { shared: new LocalHub(), errands: new Errands(members, 'own') };
}
