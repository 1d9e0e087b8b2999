import type { GatewayEvent } from '../../client/index.js';
import type { Store } from '../../server/stores/store.js';
import { type Fate, hostileStore } from '../support/hostile-store.js';

/** Has a store do with the next calls of a member what is said. */
export function armed() {
  const fates: Record<string, Fate[]> = {};
  const store = (own: Store): Store => hostileStore(own, (method) => fates[method]?.shift() ?? 'do').store;
  return { fates, store };
}

/** Takes the events of a type. */
export const typeIs =
  (wanted: string) =>
  ({ type }: GatewayEvent): boolean =>
    type === wanted;
