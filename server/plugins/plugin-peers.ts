import type { MaybePromise } from '../async/maybe-promise.js';
import type { Cluster } from '../cluster/cluster.js';
import { asUnavailable } from '../log/unavailable.js';
import type { PluginPeers } from './plugin.js';

/** A plugin's link to itself at other gateways. */
export function peersOf(
  plugin: string,
  { shared: notes, errands }: Pick<Cluster, 'shared' | 'errands'>,
): PluginPeers {
  const named = (name: string): string => `${plugin}:${name}`;
  const stored = async <T>(call: () => MaybePromise<T>): Promise<T> => asUnavailable(call);
  return {
    holder: errands.holder,
    notes: {
      put: (name, value, options) => stored(() => notes.put(named(name), value, options)),
      get: (name) => stored(() => notes.get(named(name))),
      drop: (name) => stored(() => notes.drop(named(name))),
    },
    on: (name, work) => errands.on({ name: named(name) }, work),
    ask: (holder, name, input, options) => errands.ask(holder, { name: named(name) }, input, options),
    askAll: async (name, input) => {
      const answers = await errands.askAll({ name: named(name) }, input);
      return answers.filter((answer) => answer !== undefined);
    },
  };
}
