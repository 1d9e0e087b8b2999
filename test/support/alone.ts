import { Errands } from '../../server/cluster/errands.js';
import { Notes } from '../../server/cluster/notes.js';
import { memoryStore } from '../../server/stores/memory.js';

/** What a gateway has of a cluster in which it is alone. */
export function alone(): { readonly errands: Errands; readonly notes: Notes } {
  const members = {
    joined: true,
    alive: async () => false,
    others: async () => [],
    ask: async () => ({ kind: 'unheard' }) as const,
  };
  return { errands: new Errands(members, 'own'), notes: new Notes(memoryStore()) };
}
