import type { Membership, SharedStore } from '../../server/stores/shared-store.js';
import type { Store } from '../../server/stores/store.js';
import type { SessionRef } from '../../server/stores/stored.js';
import { closeLater } from '../support/resources.js';

/** One of the gateways that share a store, as far as the store knows it. */
export interface SharedNode {
  /** Open. */
  readonly store: Store;
  /** It ends without a word. */
  kill(): unknown;
  /** It stands still, or is cut off: nothing of it reaches the store, and its lease runs out. */
  freeze(): unknown;
  /** It goes on where it stood. */
  thaw(): unknown;
  /** It loses its connection for a moment, in which it hears nothing. Absent where there is none. */
  blink?(): unknown;
}

/** A place that several stores share what they keep in. */
export interface SharedStoreUnderTest {
  node(): Promise<SharedNode>;
  /** Whether it has a clock of its own. */
  readonly hasClock?: boolean;
  cleanup(): unknown;
}

export interface Joined extends SharedNode {
  readonly shared: SharedStore;
  readonly membership: Membership;
  readonly holder: string;
  readonly heard: string[];
  lapses: number;
}

/** A run that begins. */
export const opens = (runId: string) => ({ opens: { runId, request: '{}' } });

/** Resolves once a condition holds that only the store can be asked about. */
export async function eventually(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Makes a place before each test, for members that the tests have join. */
export function sharedPlace(makeStore: () => SharedStoreUnderTest | Promise<SharedStoreUnderTest>) {
  let made: SharedStoreUnderTest;
  let nodes = 0;

  beforeEach(async () => {
    made = await makeStore();
    closeLater(made, (it) => it.cleanup());
    nodes = 0;
  });

  async function join(): Promise<Joined> {
    const node = await made.node();
    const holder = `gw.${++nodes}`;
    const heard: string[] = [];
    const shared = node.store.shared!;
    const joined = { ...node, shared, holder, heard, lapses: 0 };
    const hear = (message: string): void => void heard.push(message);
    const lapsed = (): void => {
      joined.lapses += 1;
    };
    const membership = await shared.join({ holder, hear, away() {}, lapsed });
    return Object.assign(joined, { membership });
  }

  return { join, node: () => made.node(), hasClock: () => made.hasClock === true };
}

/** What is unfinished, as a member is told. */
export const left = async ({ store }: SharedNode): Promise<readonly (SessionRef & { from?: string })[]> =>
  store.unfinished();
