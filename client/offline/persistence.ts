import type { Persistence } from '../options.js';
import type { Core } from '../run.js';
import type { Disk } from './disk.js';
import { sealed } from './sealed.js';
import { persistStates } from './states.js';
import { openTabs } from './tabs.js';
import { persistUnsent } from './unsent.js';

/** What is kept, whose it is, and for how long. */
export interface PersistOptions {
  /** Id of the user who is logged in: nobody else is shown what is kept, and nothing of it is sent for anybody else. */
  readonly user: string;
  /** Apart from what other clients of the page keep. @default 'agent-session-gateway' */
  readonly name?: string | undefined;
  /** How many sessions' states are kept, those that were shown last. @default 50 */
  readonly sessions?: number | undefined;
  /**
   * Milliseconds for which an unsent message is sent by itself. Less than gateways know its key for, so that it is sent once; later it is
   * shown as failed. @default 82800000, 23 hours
   */
  readonly unsentMs?: number | undefined;
  /** Makes what is kept unreadable to others, and readable again. Ids and times are not hidden. */
  readonly encryption?: {
    seal(text: string): Promise<string>;
    /** Throws for what it cannot read, which is dropped. */
    open(sealed: string): Promise<string>;
  };
  /** Hears what could not be kept or read, such as for want of room. @default nobody */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Texts that somebody is writing. */
export interface Drafts {
  /** The draft for a session; empty where there is none. */
  get(sessionId: string): Promise<string>;
  /** An empty text drops it. */
  set(sessionId: string, text: string): Promise<void>;
}

/** What a client keeps on its device. */
export interface OfflinePersistence extends Persistence {
  readonly drafts: Drafts;
  /**
   * For a logout: drops all that is kept of the user, in all tabs, and gives up what was not sent. Nothing is kept from then on. Disconnect
   * the client first.
   */
  wipe(): Promise<void>;
}

/** What the parts of persistence have in common. */
export interface Keeping {
  readonly disk: Disk;
  readonly options: PersistOptions;
  /** Whether all was dropped: nothing is kept any more. */
  isOver(): boolean;
  /** Does something with the disk; what goes wrong is reported. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

const DRAFT = 'd:';

export function createPersistence(name: string, plain: Disk, options: PersistOptions): OfflinePersistence {
  const { onError } = options;
  let isOver = false;
  const stops = new Set<() => void>();
  const keeping: Keeping = {
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
