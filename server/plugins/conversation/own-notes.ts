import type { PluginNotes } from '../plugin.js';

const MAX_KEPT = 10_000;

/** Notes of a gateway whose store is its own: in memory, and not timed. Of too many the oldest are forgotten. */
export function ownNotes(): PluginNotes {
  const notes = new Map<string, string>();
  return {
    async put(name, value, { once = false }) {
      if (once && notes.has(name)) return false;
      const [oldest] = notes.keys();
      if (oldest !== undefined && notes.size >= MAX_KEPT) notes.delete(oldest);
      notes.set(name, value);
      return true;
    },
    get: async (name) => notes.get(name) ?? null,
    async drop(name) {
      notes.delete(name);
    },
  };
}
