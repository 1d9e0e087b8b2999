import type { PluginNotes } from '../plugin.js';

const MAX_KEPT = 10_000;

/** Notes of a gateway whose store is its own: in memory. The oldest are forgotten where there are too many. */
export function ownNotes(): PluginNotes {
  const notes = new Map<string, { readonly value: string; readonly until: number }>();
  const find = (name: string): string | null => {
    const note = notes.get(name);
    return note && note.until > Date.now() ? note.value : null;
  };
  return {
    async put(name, value, { ttlMs, once = false }) {
      if (once && find(name) !== null) return false;
      const [oldest] = notes.keys();
      if (oldest !== undefined && notes.size >= MAX_KEPT) notes.delete(oldest);
      // The newest are last.
      notes.delete(name);
      notes.set(name, { value, until: Date.now() + ttlMs });
      return true;
    },
    get: async (name) => find(name),
    async drop(name) {
      notes.delete(name);
    },
  };
}
