import { serveStore } from 'agent-session-gateway/stores/socket';
import { storeAt } from '../../runtime/store-at.js';
import { serveForParent } from './serving.js';
import { whenFree } from './when-free.js';

/** What `start` tells the process that keeps the store for its workers. */
export interface StoreProcessOptions {
  /** As `storeAt` takes it: a file, or `memory`. */
  readonly place: string;
  /** The Unix socket. */
  readonly path: string;
  /** Waits where another process has the file. */
  readonly standby: boolean;
}

// It goes on until its parent lets it go: workers that drain need it to their end, whoever else is told to end.
serveForParent<StoreProcessOptions, object>(
  async ({ place, path, standby }) => {
    const serve = async () => serveStore(await storeAt(place), { path });
    const served = await (standby ? whenFree(serve) : serve());
    return { started: {}, close: () => served.close() };
  },
  { endsBySignal: false },
);
