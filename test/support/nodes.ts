import { type Client, createClient } from '../../client/index.js';
import { defineApp, type GatewayConfig } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import type { SessionState } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';
import { gate } from './gate.js';
import { startGateway, type TestGateway, TOKEN } from './gateway.js';
import { type HubNode, MemoryHub } from './memory-hub.js';
import { closeLater } from './resources.js';

/** A gateway of several on one store, and clients of it. */
export interface Node<Of = HubNode> extends TestGateway {
  /** What a test does to its way to the store. */
  readonly node: Of;
  /** Of the gateway's one user; of alice, where users are told apart by their names. */
  readonly client: Client;
  /** A client of another user of `byName`. */
  clientOf(user: string): Client;
}

type Config = Omit<GatewayConfig<any, any, any>, 'store'>;

export interface NodeConfig extends Config {
  /** Stands between the gateway and its store. */
  readonly store?: (own: Store) => Store;
}

/** Starts a gateway on a node of whichever store. */
export async function startOn<Of extends { readonly store: Store }>(
  node: Of,
  { store: wrap = (own) => own, ...config }: NodeConfig,
): Promise<Node<Of>> {
  const limits = { storeMs: 500, ...config.limits };
  const started = await startGateway({ ...config, store: wrap(node.store), limits });
  const clientOf = (token: string): Client =>
    closeLater(createClient({ baseUrl: started.url, token }), (it) => it.disconnect());
  const client = clientOf(config.auth ? 'alice' : TOKEN);
  return { ...started, node, client, clientOf };
}

/** Starts a gateway on a hub. */
export const startNode = (hub: MemoryHub, config: NodeConfig): Promise<Node> => startOn(hub.node(), config);

/** Starts gateways that share a hub. */
export async function startNodes(hub: MemoryHub, config: NodeConfig, count = 3): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  while (nodes.length < count) nodes.push(await startNode(hub, config));
  return nodes;
}

/** The gateway that holds the session `main`, and one that does not. */
export function sides(
  hub: MemoryHub,
  nodes: readonly Node[],
): { readonly holder: Node; readonly other: Node } {
  const holder = nodes.find(({ node }) => node.holder === hub.holderOf('main'))!;
  return { holder, other: nodes.find((node) => node !== holder)! };
}

export const echo = defineApp({
  async *run({ message }) {
    yield `said ${textOf(message)}`;
  },
});

/** Says something and then waits, in whichever process it runs, until it is let go or stopped. */
export function waiting(options: { readonly resumable?: boolean } = {}) {
  const door = gate();
  const calls: string[] = [];
  const app = defineApp({
    ...options,
    async *run(turn) {
      calls.push(textOf(turn.message));
      if (!turn.resumed) yield 'begun, ';
      if (textOf(turn.message) === 'wait') {
        const stopped = new Promise<never>((_, reject) => {
          turn.signal.addEventListener('abort', () => reject(turn.signal.reason));
        });
        await Promise.race([door.passed, stopped]);
      }
      yield 'done';
    },
  });
  return { app, calls, letGo: () => door.open() };
}

/** Resolves once the state of the session is so at a gateway; never after the running test has ended. */
export async function stateOf({ client }: Node, holds: (state: SessionState) => boolean): Promise<void> {
  let isOver = false;
  closeLater(holds, () => {
    isOver = true;
  });
  while (!isOver && !holds(await client.session('main').state())) await new Promise(setImmediate);
}

export const codeOf = async (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => 'done',
    (error: { readonly code?: unknown }) => error.code,
  );

/** Gateways that share a hub, of which one runs a message that waits until it is let go. */
export async function startBusy(hub: MemoryHub = new MemoryHub()) {
  const { app, calls, letGo } = waiting();
  const nodes = await startNodes(hub, { app });
  const run = nodes[0]!.client.send('main', 'wait');
  await run.accepted;
  return { hub, nodes, run, calls, letGo, ...sides(hub, nodes) };
}
