import type { Application } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { textOf } from '../../shared/messages.js';
import { type NodeConfig, type Node as NodeOf, startOn } from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

/** A store of one gateway, and what a test does to its line to the server. */
export interface StoreNode {
  readonly store: Store;
  kill(): void;
  freeze(): void;
  thaw(): void;
}

/** Where gateways of a test keep their sessions together. */
export interface Place {
  node(): Promise<StoreNode>;
  /** Who holds the session `main`: `''` for nobody. */
  holder(): Promise<string>;
  /** Ends the server as the loss of power does. Of a place of the test's own. */
  stop?(): Promise<void>;
  /** Starts it again. */
  run?(): Promise<void>;
  /** Notes what it has written. The answer ends it, and starts it with no more than that. Absent where it forgets nothing. */
  mark?(): () => Promise<void>;
}

export type Node = NodeOf<StoreNode>;

export type MakePlace = (options: { readonly own?: boolean }) => Promise<Place>;

/** Gateways of a test, in a place that is made before each. */
export type Gateways = ReturnType<typeof gatewaysIn>;

export function gatewaysIn(makePlace: MakePlace) {
  let place: Place;
  let count: number;

  beforeEach(async () => {
    place = await makePlace({});
    count = 0;
  });

  async function start(app: Application, config: Pick<NodeConfig, 'sessionAccess'> = {}): Promise<Node> {
    // As it is shipped: a store that is busy is not one that is away.
    const limits = { storeMs: 10_000 };
    const started = await startOn(await place.node(), { id: `gw${++count}`, app, limits, ...config });
    // Before the gateway is closed.
    closeLater(started.node, (it) => it.thaw());
    return started;
  }

  const startAll = async (app: Application, many = 3): Promise<readonly Node[]> => {
    const nodes: Node[] = [];
    while (nodes.length < many) nodes.push(await start(app));
    return nodes;
  };

  /** Id of the gateway that holds the session `main`. */
  const holder = async (): Promise<string> => (await place.holder()).split('.')[0]!;
  /** Resolves once what the run has said first is stored. */
  const begun = ({ client }: Node): Promise<void> =>
    until(async () => {
      const { run } = await client.session('main').state();
      return run !== null && textOf(run.message) === 'begun, ';
    });
  const sides = async (nodes: readonly Node[]): Promise<{ holding: Node; other: Node }> => {
    const id = await holder();
    const holding = nodes.find(({ gateway }) => gateway.id === id)!;
    return { holding, other: nodes.find((node) => node !== holding)! };
  };

  /** Resolves once another gateway holds the session `main`. */
  const taken = ({ gateway }: Node): Promise<void> =>
    until(async () => !['', gateway.id].includes(await holder()));

  /** Has a server of its own from now on, that it may end. */
  const moveToOwn = async (): Promise<Place> => {
    place = await makePlace({ own: true });
    return place;
  };

  return { start, startAll, begun, sides, taken, moveToOwn };
}
