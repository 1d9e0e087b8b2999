import type { SharedStore } from '../stores/shared-store.js';

/** The hub of a gateway with its own store. The gateway is the only member. */
export class LocalHub implements SharedStore {
  readonly leaseMs = Number.POSITIVE_INFINITY;
  readonly skewMs = 0;

  join({ holder: own }: Parameters<SharedStore['join']>[0]): ReturnType<SharedStore['join']> {
    return {
      members: () => [own],
      tell: () => false,
      leave: () => {},
    };
  }

  held(): readonly [] {
    return [];
  }
}
