import type { Store } from '../../server/stores/store.js';
import { Line } from '../support/line.js';
import { openStore } from '../support/open-store.js';
import { reachStore, serveForTests } from '../support/served-store.js';
import type { SharedNode, SharedStoreUnderTest } from './shared-place.js';

const LEASE_MS = 600;

/** A place in a store that is served over a socket, to which each node has a line of its own. */
export async function socketPlace(store: Store): Promise<SharedStoreUnderTest> {
  const port = await serveForTests(store, LEASE_MS);
  const node = async (): Promise<SharedNode> => {
    const line = await Line.to(port);
    return {
      store: await openStore(reachStore(line.port)),
      kill: () => line.cut(),
      freeze: () => line.cut(),
      thaw: () => line.mend(),
      blink: () => line.blink(),
    };
  };
  return { node, cleanup: () => {} };
}
