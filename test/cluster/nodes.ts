import { type Client, createClient } from '../../client/index.js';
import type { GatewayConfig } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type HubNode, MemoryHub } from '../support/memory-hub.js';
import { closeLater } from '../support/resources.js';
import { byName } from '../support/users.js';

/** A gateway among several that share a hub. */
export interface Node extends TestGateway {
  readonly node: HubNode;
  /** A client of a user of `byName` at this gateway. */
  client(user?: string): Client;
}

type Config = GatewayConfig<any, any, any>;

/** Starts a gateway on a hub, whose users are `byName`. @param wrap Stands between a gateway and its store */
export async function startNode(
  hub: MemoryHub,
  config: Config,
  wrap: (store: Store) => Store = (store) => store,
): Promise<Node> {
  const node = hub.node();
  const limits = { storeMs: 500, ...config.limits };
  const started = await startGateway({ auth: byName, ...config, store: wrap(node.store), limits });
  const client = (user = 'alice'): Client =>
    closeLater(createClient({ baseUrl: started.url, token: user }), (it) => it.disconnect());
  return { ...started, node, client };
}

/** Starts gateways that share a hub. */
export async function startNodes(
  config: Config,
  count = 2,
  hub: MemoryHub = new MemoryHub(),
  wrap?: (store: Store) => Store,
): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for (let i = 0; i < count; i++) nodes.push(await startNode(hub, config, wrap));
  return nodes;
}
