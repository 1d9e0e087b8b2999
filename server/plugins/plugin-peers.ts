import type { Errands } from '../cluster/errands.js';
import type { Notes } from '../cluster/notes.js';
import type { PluginPeers } from './plugin.js';

/** A plugin's link to itself at other gateways. */
export function peersOf(plugin: string, errands: Errands, notes: Notes): PluginPeers {
  const named = (name: string): string => `${plugin}:${name}`;
  return {
    holder: errands.holder,
    notes: {
      put: (name, value, options) => notes.put(named(name), value, options),
      get: (name) => notes.get(named(name)),
      drop: (name) => notes.drop(named(name)),
    },
    on: (name, work) => errands.on({ name: named(name) }, work),
    ask: (holder, name, input, options) => errands.ask(holder, { name: named(name) }, input, options),
    askAll: async (name, input) => {
      const answers = await errands.askAll({ name: named(name) }, input);
      return answers.filter((answer) => answer !== undefined);
    },
  };
}
