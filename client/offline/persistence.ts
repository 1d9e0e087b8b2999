import type { Persistence } from '../options.js';
import type { Core } from '../run.js';
import type { Disk } from './disk.js';
import { sealed } from './sealed.js';
import { persistStates } from './states.js';
import { openTabs } from './tabs.js';
import { persistUnsent } from './unsent.js';

/** Options of persistence: the user, the amount and the time. */
export interface PersistOptions {
  /** Id of the user who is logged in. Kept data is shown and sent for this user alone. */
  readonly user: string;
  /** Separates the data from that of other clients of the page. @default 'agent-session-gateway' */
  readonly name?: string | undefined;
  /** How many sessions' states are kept, the last shown ones. @default 50 */
  readonly sessions?: number | undefined;
  /**
   * Milliseconds for which an unsent message is retried by itself; later it is shown as failed. It must be less than gateways remember its key, so
   * that it is sent once. @default 82800000, 23 hours
   */
  readonly unsentMs?: number | undefined;
  /** Encrypts and decrypts the kept data. Ids and times are not hidden. */
  readonly encryption?: {
    seal(text: string): Promise<string>;
    /** Throws for a text that it cannot read, which is then dropped. */
    open(sealed: string): Promise<string>;
  };
  /** Receives errors of keeping and reading, such as a full device. @default nobody */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Texts that somebody is writing. */
export interface Drafts {
  /** The draft for a session; empty if there is none. */
  get(sessionId: string): Promise<string>;
  /** An empty text drops it. */
  set(sessionId: string, text: string): Promise<void>;
}

/** A client's data on its device. */
export interface OfflinePersistence extends Persistence {
  readonly drafts: Drafts;
  /**
   * For a logout: drops all kept data of the user, in all tabs, and gives up unsent messages. Nothing is kept from then on. Disconnect the client
   * first.
   */
  wipe(): Promise<void>;
}

/** The shared parts of persistence. */
export interface PersistenceParts {
  readonly disk: Disk;
  readonly options: PersistOptions;
  /** Whether all data was dropped, so that nothing is kept any more. */
  isOver(): boolean;
  /** Does something with the disk, and reports its errors. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

const DRAFT = 'd:';

export function createPersistence(name: string, plain: Disk, options: PersistOptions): OfflinePersistence {
  const { onError } = options;
  let isOver = false;
  const stops = new Set<() => void>();
  const keeping: PersistenceParts = {
    disk: sealed(plain, options.encryption),
    options,
    isOver: () => isOver,
    attempt: async (work) => {
      try {
        return await work();
      } catch (error) {
        onError?.(error);
        return undefined;
      }
    },
  };
  const end = (): void => {
    isOver = true;
    for (const stop of stops) stop();
  };
  const tabs = openTabs(name, end);
  return {
    attach: (given) => {
      const core = given as Core;
      const states = persistStates(core, keeping);
      const unsent = persistUnsent(core, keeping, tabs);
      stops.add(states.stop).add(unsent.stop);
    },
    drafts: {
      get: async (sessionId) => (await keeping.attempt(() => keeping.disk.get(DRAFT + sessionId))) ?? '',
      set: async (sessionId, text) => {
        if (isOver) return;
        await keeping.attempt(() =>
          text === '' ? plain.delete(DRAFT + sessionId) : keeping.disk.set(DRAFT + sessionId, text),
        );
      },
    },
    wipe: async () => {
      end();
      tabs.tellWiped();
      for (const key of await plain.keys()) await plain.delete(key);
    },
  };
}
