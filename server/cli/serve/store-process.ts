import { serveStore } from 'agent-session-gateway/stores/socket';
import { storeAt } from '../../runtime/store-at.js';
import { serveForParent } from './running-service.js';
import { whenFree } from './when-free.js';

/** The options that `start` sends to the process that keeps the workers' store. */
export interface StoreProcessOptions {
  /** A place for `storeAt`: a file, or `memory`. */
  readonly place: string;
  /** The Unix socket. */
  readonly path: string;
  /** Whether to wait while another process has the file. */
  readonly standby: boolean;
}

// Ignore SIGTERM: draining workers need the store until the parent disconnects.
serveForParent<StoreProcessOptions, object>(
  async ({ place, path, standby }) => {
    const serve = async () => serveStore(await storeAt(place), { path });
    const served = await (standby ? whenFree(serve) : serve());
    return { started: {}, close: () => served.close() };
  },
  { endsBySignal: false },
);
