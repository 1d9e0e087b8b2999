import { GatewayError } from '../../shared/gateway-error.js';
import type { Persistence } from '../options.js';
import type { ClientPerson } from '../person.js';
import type { Core } from '../run.js';
import { inTime } from '../timing.js';
import type { Disk } from './disk.js';
import { sealed } from './sealed.js';
import { persistStates } from './states.js';
import { openTabs } from './tabs.js';
import { persistUnsent } from './unsent.js';

/** Options of persistence: the user, the amount and the time. */
export interface PersistOptions {
  /** Id of the user who is logged in, as the gateway knows it. Kept data is shown and sent for this user alone. */
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
  /** Receives errors of keeping and reading, such as a full device, and `OTHER_USER` for what waits for its own user. @default nobody */
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
   *
   * @throws GatewayError `TIMEOUT` if the device does not answer
   */
  wipe(): Promise<void>;
}

/** The shared parts of persistence. */
export interface PersistenceParts {
  readonly disk: Disk;
  readonly options: PersistOptions;
  /** Whether all data was dropped, so that nothing is kept any more. */
  isOver(): boolean;
  /** Whether the client is another user's by now, or nobody knows whose. */
  isForeign(): boolean;
  /** Does something with the disk, and reports its errors. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** The same for somebody who waits: without an answer after a second, the device is not waited for any more. */
  soon<T>(work: () => Promise<T>): Promise<T | undefined>;
}

const DRAFT = 'd:';
/** A page goes on without the device if that takes longer. */
const ANSWER_MS = 1_000;
const WIPE_MS = 10_000;

const silent = (): GatewayError =>
  new GatewayError({ code: 'TIMEOUT', message: 'The device does not answer' });

export function createPersistence(name: string, plain: Disk, options: PersistOptions): OfflinePersistence {
  const { onError } = options;
  let isOver = false;
  let person: ClientPerson | undefined;
  const stops = new Set<() => void>();
  const keeping: PersistenceParts = {
    disk: sealed(plain, options.encryption),
    options,
    isOver: () => isOver,
    isForeign: () => !!person && person.user?.id !== options.user,
    soon: (work) => keeping.attempt(() => inTime(ANSWER_MS, silent, work)),
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
      ({ person } = core);
      // The page promises it. The first connection shows whether it is so.
      person.user = { id: options.user };
      const states = persistStates(core, keeping);
      const unsent = persistUnsent(core, keeping, tabs);
      stops.add(states.stop).add(unsent.stop);
    },
    drafts: {
      get: async (sessionId) =>
        (keeping.isForeign() ? '' : await keeping.soon(() => keeping.disk.get(DRAFT + sessionId))) ?? '',
      set: async (sessionId, text) => {
        if (isOver || keeping.isForeign()) return;
        await keeping.soon(() =>
          text === '' ? plain.delete(DRAFT + sessionId) : keeping.disk.set(DRAFT + sessionId, text),
        );
      },
    },
    wipe: async () => {
      end();
      tabs.tellWiped();
      await inTime(WIPE_MS, silent, async () => {
        for (const key of await plain.keys()) await plain.delete(key);
      });
    },
  };
}
